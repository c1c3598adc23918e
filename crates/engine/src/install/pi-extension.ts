// rekindle: pi extension. Written by `rekindle install pi`, removed by `rekindle uninstall pi`; changes made here are lost.
//
// It tells Rekindle what happens in a session and hands pi the context that comes back. pi waits for its extensions, so
// everything here has a deadline, and nothing that goes wrong here reaches the session.
import { spawn } from "node:child_process";
import { appendFileSync, statSync } from "node:fs";

const PROGRAM: string = "@program@";
const ARGUMENTS: string[] = ["@arguments@"];
const LOG: string = "@log@";

/** How long pi waits for an answer. The hook itself goes on and ends by its own limits. */
const PATIENCE_MS: Record<string, number> = {
	SessionStart: 2000,
	UserPromptSubmit: 1500,
	Stop: 2000,
	PreCompact: 4000,
	PostCompact: 1000,
	SessionEnd: 4000,
};
/** A hook that runs longer than this hangs. */
const HANGS_MS = 20000;
const LARGEST_ANSWER = 256 * 1024;
const LARGEST_LOG = 64 * 1024;

function note(event: string, problem: unknown): void {
	try {
		let size = 0;
		try {
			size = statSync(LOG).size;
		} catch {}
		if (size < LARGEST_LOG) {
			const text = problem instanceof Error ? problem.message : String(problem);
			appendFileSync(LOG, `${JSON.stringify({ ts: new Date().toISOString(), agent: "pi", event, problem: text })}\n`, { mode: 0o600 });
		}
	} catch {}
}

/** What the hook answered, and whether it has certainly read what it was told. */
type Answer = { context?: string; heard: boolean };

function tell(event: string, message: object): Promise<Answer> {
	return new Promise((resolve) => {
		let answer = "";
		let settled = false;
		const settle = (heard: boolean, problem?: unknown) => {
			if (settled) return;
			settled = true;
			clearTimeout(deadline);
			if (problem !== undefined) note(event, problem);
			let context: string | undefined;
			try {
				const found = answer.trim() ? JSON.parse(answer)?.hookSpecificOutput?.additionalContext : undefined;
				if (typeof found === "string" && found.length > 0) context = found;
			} catch (error) {
				note(event, error);
			}
			resolve({ context, heard });
		};
		const patience = PATIENCE_MS[event] ?? 1000;
		const deadline = setTimeout(() => settle(false, `no answer within ${patience} ms`), patience);
		try {
			const child = spawn(PROGRAM, [...ARGUMENTS, "hook", "pi", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
			const hangs = setTimeout(() => child.kill("SIGKILL"), HANGS_MS);
			hangs.unref?.();
			child.on("error", (error) => settle(false, error));
			child.on("close", (code) => {
				clearTimeout(hangs);
				settle(code === 0, code === 0 ? undefined : `the hook ended with ${code}`);
			});
			child.stdin.on("error", () => {});
			child.stdout.on("error", () => {});
			child.stdout.setEncoding("utf8");
			child.stdout.on("data", (part: string) => {
				if (answer.length < LARGEST_ANSWER) answer += part;
			});
			child.stdin.end(JSON.stringify(message));
			// pi may end without waiting for it.
			child.unref();
		} catch (error) {
			settle(false, error);
		}
	});
}

export default function rekindle(pi: any): void {
	/** What the start of the session brought, until there is a prompt to put it before. */
	let briefing: string | undefined;
	/** The last entry that was handed over, in sessions that pi keeps no file of. */
	let handed: string | undefined;

	const common = (event: string, ctx: any) => ({
		session_id: ctx.sessionManager.getSessionId(),
		transcript_path: ctx.sessionManager.getSessionFile() ?? null,
		cwd: ctx.cwd,
		hook_event_name: event,
		mode: ctx.mode,
	});

	/** Tells what happened. Where pi keeps no file, what was said since the last time goes along. */
	const report = async (event: string, ctx: any, more: object, withEntries: boolean): Promise<Answer> => {
		const message: any = { ...common(event, ctx), ...more };
		let last = handed;
		if (withEntries && message.transcript_path === null) {
			const branch: any[] = ctx.sessionManager.getBranch();
			const from = branch.findIndex((entry) => entry.id === handed) + 1;
			const header = ctx.sessionManager.getHeader();
			message.entries = from === 0 && header ? [header, ...branch] : branch.slice(from);
			last = branch.at(-1)?.id ?? handed;
		}
		const answer = await tell(event, message);
		if (answer.heard) handed = last;
		return answer;
	};

	/** Nothing that goes wrong in `work` may reach the session. */
	const on = (name: string, event: string, work: (happened: any, ctx: any) => Promise<unknown>) => {
		pi.on(name, async (happened: any, ctx: any) => {
			try {
				return await work(happened, ctx);
			} catch (error) {
				note(event, error);
				return undefined;
			}
		});
	};

	on("session_start", "SessionStart", async (happened, ctx) => {
		// After /reload it is the same session as before.
		if (happened.reason === "reload") return;
		handed = undefined;
		briefing = (await report("SessionStart", ctx, { source: happened.reason }, false)).context;
	});

	on("before_agent_start", "UserPromptSubmit", async (happened, ctx) => {
		const { context } = await report("UserPromptSubmit", ctx, { prompt: happened.prompt }, false);
		const content = [briefing, context].filter((part) => part !== undefined).join("\n\n");
		briefing = undefined;
		if (content) return { message: { customType: "rekindle", content, display: false } };
	});

	on("agent_end", "Stop", async (_happened, ctx) => {
		await report("Stop", ctx, {}, true);
	});

	on("session_before_compact", "PreCompact", async (happened, ctx) => {
		await report("PreCompact", ctx, { trigger: happened.reason }, true);
	});

	on("session_compact", "PostCompact", async (happened, ctx) => {
		await report("PostCompact", ctx, { trigger: happened.reason }, false);
	});

	on("session_shutdown", "SessionEnd", async (happened, ctx) => {
		if (happened.reason === "reload") return;
		await report("SessionEnd", ctx, { reason: happened.reason }, true);
	});
}
