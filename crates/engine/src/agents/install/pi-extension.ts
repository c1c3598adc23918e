// rekindle: pi extension. Written by `rekindle install`, which writes it again; changes made here are lost.
//
// It tells Rekindle what happens in a session and hands pi the context that comes back. pi waits for its extensions, so
// everything here has a deadline, and nothing that goes wrong here reaches the session.
import { spawn } from "node:child_process";
import { appendFileSync, statSync } from "node:fs";

const PROGRAM: string = "@program@";
const ARGUMENTS: string[] = ["@arguments@"];
const LOG: string = "@log@";
/** Whether Rekindle wants to be asked before files are changed and commands run. */
const BEFORE_TOOLS: boolean = "@tools@";

/** How long pi waits for a hook. One that takes longer is ended: it would not answer any more. */
const PATIENCE_MS: Record<string, number> = {
	SessionStart: 2000,
	UserPromptSubmit: 1500,
	PreToolUse: 1000,
	Stop: 2000,
	PreCompact: 4000,
	PostCompact: 1000,
	SessionEnd: 4000,
};
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
			const line = JSON.stringify({ ts: new Date().toISOString(), hook: `pi ${event}`, problem: text });
			appendFileSync(LOG, `${line}\n`, { mode: 0o600 });
		}
	} catch {}
}

/** Runs a hook and returns the context that it has for the agent. What it has for the person goes to `show`. */
function tell(event: string, message: object, show: (line: string) => void): Promise<string | undefined> {
	return new Promise((resolve) => {
		let answer = "";
		let settled = false;
		const settle = (problem?: unknown) => {
			if (settled) return;
			settled = true;
			clearTimeout(deadline);
			let context: string | undefined;
			try {
				if (problem !== undefined) throw problem;
				const said = answer.trim() ? JSON.parse(answer) : undefined;
				const found = said?.hookSpecificOutput?.additionalContext;
				if (typeof found === "string" && found.length > 0) context = found;
				const line = said?.systemMessage;
				if (typeof line === "string" && line.length > 0) show(line);
			} catch (error) {
				note(event, error);
			}
			resolve(context);
		};
		let end = () => {};
		const patience = PATIENCE_MS[event] ?? 1000;
		const deadline = setTimeout(() => {
			end();
			settle(`no answer within ${patience} ms`);
		}, patience);
		try {
			const child = spawn(PROGRAM, [...ARGUMENTS, "hook", "pi", event], {
				stdio: ["pipe", "pipe", "ignore"],
				windowsHide: true,
			});
			end = () => {
				child.stdout.destroy();
				child.kill("SIGKILL");
			};
			child.on("error", settle);
			child.on("close", (code) => settle(code === 0 ? undefined : `the hook ended with ${code}`));
			child.stdin.on("error", () => {});
			child.stdout.on("error", () => {});
			child.stdout.setEncoding("utf8");
			child.stdout.on("data", (part: string) => {
				if (answer.length < LARGEST_ANSWER) answer += part;
			});
			child.stdin.end(JSON.stringify(message));
		} catch (error) {
			settle(error);
		}
	});
}

/** What the agent said last, for sessions that pi keeps no file of. */
function lastAnswer(messages: any[]): string | undefined {
	const last = (messages ?? []).filter((message) => message?.role === "assistant").at(-1);
	const parts = Array.isArray(last?.content) ? last.content : [];
	const text = parts.filter((part: any) => part?.type === "text").map((part: any) => part.text);
	return text.length > 0 ? text.join("\n") : undefined;
}

export default function rekindle(pi: any): void {
	/** What the start of the session brought, until there is a prompt to put it before. */
	let briefing: string | undefined;

	const report = (event: string, ctx: any, more: object): Promise<string | undefined> => {
		const message = {
			session_id: ctx.sessionManager.getSessionId(),
			transcript_path: ctx.sessionManager.getSessionFile() ?? null,
			cwd: ctx.cwd,
			hook_event_name: event,
			mode: ctx.mode,
			has_ui: ctx.hasUI === true,
			...more,
		};
		return tell(event, message, (line) => ctx.ui.notify(line, "info"));
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
		briefing = await report("SessionStart", ctx, { source: happened.reason });
	});

	on("before_agent_start", "UserPromptSubmit", async (happened, ctx) => {
		const context = await report("UserPromptSubmit", ctx, { prompt: happened.prompt });
		const content = [briefing, context].filter((part) => part !== undefined).join("\n\n");
		briefing = undefined;
		if (content) return { message: { customType: "rekindle", content, display: false } };
	});

	if (BEFORE_TOOLS) {
		on("tool_call", "PreToolUse", async (happened, ctx) => {
			if (!["bash", "edit", "write"].includes(happened.toolName)) return;
			const more = { tool_name: happened.toolName, tool_input: happened.input };
			const content = await report("PreToolUse", ctx, more);
			// Comes with what the tool brings. The call itself is nobody's business here: nothing is returned.
			if (content) pi.sendMessage({ customType: "rekindle", content, display: false }, { deliverAs: "steer" });
		});
	}

	on("agent_end", "Stop", async (happened, ctx) => {
		await report("Stop", ctx, { last_assistant_message: lastAnswer(happened.messages) });
	});

	on("session_before_compact", "PreCompact", async (happened, ctx) => {
		await report("PreCompact", ctx, { trigger: happened.reason });
	});

	on("session_compact", "PostCompact", async (happened, ctx) => {
		await report("PostCompact", ctx, { trigger: happened.reason });
	});

	on("session_shutdown", "SessionEnd", async (happened, ctx) => {
		if (happened.reason === "reload") return;
		await report("SessionEnd", ctx, { reason: happened.reason });
	});
}
