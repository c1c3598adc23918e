//! The vocabulary of generated memories, the most frequent words first in every list.

/// A field of work and its nouns.
pub struct WordTopic {
    /// The tag of the field.
    pub name: &'static str,
    /// The nouns of the field, separated by spaces.
    pub nouns: &'static str,
}

/// Fields of work, the most frequent first.
pub const TOPICS: [WordTopic; 24] = [
    WordTopic {
        name: "database",
        nouns: "query index table migration schema transaction replica connection pool row column constraint lock \
            deadlock vacuum snapshot cursor trigger partition tablespace sequence backup checkpoint isolation planner",
    },
    WordTopic {
        name: "ci",
        nouns: "pipeline job runner build artifact cache stage step matrix workflow badge image container registry \
            checkout timeout retry shard quota log trigger approval gate nightly release",
    },
    WordTopic {
        name: "auth",
        nouns: "token session login lockout cookie scope role permission refresh claim signature provider callback \
            redirect consent tenant audience key rotation revocation passkey challenge identity directory expiry",
    },
    WordTopic {
        name: "api",
        nouns: "endpoint request response header payload client gateway route handler version schema rate limit \
            webhook pagination cursor status body parameter contract stub proxy batch idempotency envelope deprecation",
    },
    WordTopic {
        name: "frontend",
        nouns: "component button form page layout style theme modal dialog menu state hook render bundle font icon \
            viewport scroll focus tooltip table chart breakpoint hydration stylesheet animation",
    },
    WordTopic {
        name: "testing",
        nouns: "test fixture mock assertion suite snapshot coverage failure seed property generator harness sandbox \
            regression flake timeout double oracle mutation corpus shrink baseline report tolerance golden",
    },
    WordTopic {
        name: "deploy",
        nouns: "deployment release rollback cluster node pod secret config flag canary region zone replica probe \
            manifest chart ingress certificate domain rollout budget drain taint autoscaler maintenance",
    },
    WordTopic {
        name: "parser",
        nouns: "parser token grammar lexer tree node error span string escape quote comment rule operator precedence \
            lookahead recovery visitor encoding offset literal delimiter newline indentation fuzzer",
    },
    WordTopic {
        name: "performance",
        nouns: "latency allocation profile cache thread lock benchmark loop buffer copy page fault branch vector \
            throughput histogram percentile warmup contention flamegraph prefetch alignment budget regression spike",
    },
    WordTopic {
        name: "queue",
        nouns: "queue worker message consumer producer offset retry lease job backlog topic partition dead letter \
            heartbeat scheduler delay batch ordering duplicate acknowledgement priority poison visibility dispatcher",
    },
    WordTopic {
        name: "storage",
        nouns: "file folder disk volume bucket object upload checksum chunk block inode link rename sync journal \
            compaction segment tombstone quota snapshot mount archive lifecycle garbage manifest",
    },
    WordTopic {
        name: "network",
        nouns: "connection socket port packet proxy address host route firewall tunnel handshake certificate resolver \
            timeout gateway subnet peer keepalive balancer congestion listener multicast bandwidth jitter",
    },
    WordTopic {
        name: "billing",
        nouns: "invoice payment customer plan subscription refund currency tax discount coupon ledger charge trial \
            receipt balance dispute proration dunning statement export reconciliation rounding seat usage",
    },
    WordTopic {
        name: "search",
        nouns: "index query ranking document term filter facet synonym stemmer snippet score posting shard tokenizer \
            embedding vector recall threshold relevance typo suggestion crawler highlight boost stopword",
    },
    WordTopic {
        name: "mobile",
        nouns: "screen gesture notification permission keyboard camera store review crash device simulator battery \
            offline sync deeplink widget orientation emulator entitlement provisioning archive beta locale badge",
    },
    WordTopic {
        name: "data",
        nouns: "dataset column pipeline report dashboard metric event warehouse join partition backfill lineage \
            duplicate null schema freshness aggregate export notebook sample anomaly extract cohort retention",
    },
    WordTopic {
        name: "security",
        nouns: "secret vulnerability patch audit policy certificate hash salt scanner finding dependency advisory \
            sandbox privilege escalation allowlist incident rotation disclosure exploit header injection fuzzing seal",
    },
    WordTopic {
        name: "docs",
        nouns: "readme guide example changelog tutorial diagram glossary page heading link anchor snippet reference \
            screenshot template translation draft review typo outline sidebar footnote migration",
    },
    WordTopic {
        name: "editor",
        nouns: "plugin shortcut buffer cursor selection completion theme snippet formatter linter panel workspace \
            terminal pane extension setting macro fold diff gutter marker palette outline minimap",
    },
    WordTopic {
        name: "packaging",
        nouns: "package dependency lockfile version feature crate module registry mirror target toolchain installer \
            archive checksum license binary symbol linker workspace manifest prerelease feed vendor",
    },
    WordTopic {
        name: "observability",
        nouns: "alert trace span metric dashboard log sampling exporter collector label cardinality incident pager \
            threshold runbook exemplar baseline outage correlation probe silence annotation severity",
    },
    WordTopic {
        name: "team",
        nouns: "meeting review ticket deadline estimate handover standup retrospective decision convention owner \
            feedback onboarding roadmap milestone interview budget vacation priority escalation agenda summary",
    },
    WordTopic {
        name: "graphics",
        nouns: "texture shader frame buffer camera mesh pixel canvas sprite palette shadow light pass viewport \
            pipeline atlas gamma mipmap sampler depth stencil overdraw compositor",
    },
    WordTopic {
        name: "embedded",
        nouns: "firmware register interrupt timer sensor driver bootloader flash watchdog pin bus voltage clock \
            peripheral calibration serial antenna battery debounce radio oscillator enclosure",
    },
];

/// Nouns of every field.
pub const THINGS: &str = "service script change problem version server module code branch default setting value \
    list error case name system time result user team data machine file limit option path function process command \
    message number order copy key check way rule note part place format field line input output owner reason \
    answer idea draft fallback workaround assumption trade-off interface boundary invariant shortcut checklist \
    environment prototype variable wrapper adapter helper template dependency upgrade window";

/// Verbs in three forms: infinitive, past, participle.
pub const VERBS: &str = "use/used/using change/changed/changing move/moved/moving fix/fixed/fixing add/added/adding \
    remove/removed/removing run/ran/running check/checked/checking update/updated/updating break/broke/breaking \
    set/set/setting build/built/building read/read/reading write/wrote/writing start/started/starting \
    stop/stopped/stopping call/called/calling load/loaded/loading send/sent/sending retry/retried/retrying \
    replace/replaced/replacing rename/renamed/renaming split/split/splitting merge/merged/merging \
    skip/skipped/skipping raise/raised/raising lower/lowered/lowering block/blocked/blocking \
    cache/cached/caching parse/parsed/parsing validate/validated/validating delete/deleted/deleting \
    restore/restored/restoring restart/restarted/restarting measure/measured/measuring revert/reverted/reverting \
    import/imported/importing export/exported/exporting log/logged/logging mount/mounted/mounting \
    refresh/refreshed/refreshing rotate/rotated/rotating migrate/migrated/migrating disable/disabled/disabling \
    enable/enabled/enabling pin/pinned/pinning trim/trimmed/trimming wrap/wrapped/wrapping \
    flush/flushed/flushing batch/batched/batching throttle/throttled/throttling isolate/isolated/isolating \
    publish/published/publishing truncate/truncated/truncating encode/encoded/encoding \
    escape/escaped/escaping shard/sharded/sharding archive/archived/archiving profile/profiled/profiling \
    duplicate/duplicated/duplicating quarantine/quarantined/quarantining backfill/backfilled/backfilling \
    reconcile/reconciled/reconciling deprecate/deprecated/deprecating vendor/vendored/vendoring";

/// Adjectives that describe a noun.
pub const ADJECTIVES: &str = "new old slow wrong empty small large stale shared local remote broken missing current \
    default second single whole internal external temporary nightly weekly flaky manual nested pending invalid unused \
    expired partial strict legacy verbose silent synthetic upstream idempotent brittle redundant orphaned implicit \
    misleading transient asynchronous incremental duplicate corrupt optional mandatory undocumented";

/// Adverbs of frequency and manner.
pub const ADVERBS: &str = "again twice always never silently often rarely immediately eventually nightly randomly \
    locally only sometimes quickly slowly accidentally reliably repeatedly unexpectedly consistently";

/// First names of people.
pub const PEOPLE: &str = "Anna Ben Carla Dmitri Elena Farid Greta Hugo Ines Jonas Keiko Liam Mara Noor Oskar Priya \
    Quentin Rosa Samir Tova Uma Viktor Wanda Ximena Yusuf Zoe Adaeze Bjorn Chiara Daniyar Esther Fionn Gwen Hamza";

/// Days and relative days.
pub const DAYS: &str = "Monday Friday Tuesday Thursday Wednesday Sunday Saturday yesterday today";

/// Units of measurement.
pub const UNITS: &str =
    "ms seconds minutes MB rows requests retries files percent threads connections KB GB days";

/// Environments and platforms that programs run on.
pub const PLACES: &str =
    "staging production CI development macOS Linux Windows preview testing Docker Kubernetes";

/// Pairs of synonyms, used by paraphrase questions.
pub const SYNONYMS: &str = "query/lookup index/catalogue table/relation migration/changeover connection/link \
    pool/reservoir lock/mutex backup/safety-copy pipeline/workflow job/task runner/executor build/compilation \
    cache/store image/snapshot registry/catalogue timeout/deadline retry/attempt log/journal token/credential \
    session/visit login/sign-in role/position permission/right key/secret endpoint/address \
    request/call response/reply header/preamble payload/content client/consumer gateway/entrance route/path \
    component/element button/control form/questionnaire page/view theme/look dialog/popup test/check \
    fixture/setup suite/collection failure/defect deployment/rollout release/launch rollback/reversal \
    cluster/fleet node/machine config/settings flag/switch region/location parser/reader error/mistake \
    string/text comment/remark latency/delay allocation/reservation benchmark/measurement buffer/scratchpad \
    thread/strand queue/line worker/labourer message/note consumer/receiver producer/sender file/document \
    folder/directory disk/drive bucket/container upload/transfer checksum/fingerprint invoice/bill \
    payment/settlement customer/buyer plan/tariff subscription/contract refund/reimbursement discount/rebate \
    document/record filter/sieve screen/display notification/alert crash/breakdown device/handset \
    dataset/collection report/overview dashboard/board metric/figure event/occurrence vulnerability/weakness \
    patch/mend audit/inspection policy/rule readme/introduction guide/manual example/sample plugin/add-on \
    shortcut/hotkey package/bundle dependency/requirement version/edition alert/alarm trace/trail \
    meeting/appointment review/appraisal ticket/issue deadline/due-date estimate/guess decision/choice \
    texture/surface shader/program frame/picture firmware/microcode register/slot sensor/detector driver/adapter";

/// The kinds of memories, also their folders: enough that a hundred thousand notes leave fewer than a
/// thousand in each folder.
pub const KINDS: &str = "fix decision preference lesson note pattern howto incident convention fact setup review \
    command gotcha workaround design release migration benchmark meeting question answer rule habit tool service \
    environment contact reference plan risk experiment cleanup upgrade config debugging";

/// First sounds of the syllables of made-up names.
pub const ONSETS: [&str; 24] = [
    "b", "br", "c", "cl", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "qu", "r", "s", "st", "t",
    "tr", "v", "w", "z",
];
/// Vowels of the syllables.
pub const VOWELS: [&str; 9] = ["a", "e", "i", "o", "u", "ae", "ia", "io", "ou"];
/// Last sounds of the syllables.
pub const CODAS: [&str; 14] = ["", "n", "r", "l", "s", "x", "nd", "rk", "st", "m", "th", "ck", "lt", "v"];

/// Determiners before a noun.
pub const DETERMINERS: &str = "the our that this its their each every any another some one";

/// Sentence templates. `{s}` and `{o}` are the memory's subject; `{id}`, `{path}`, `{err}`, `{ver}` and
/// `{name}` are its own names; every other slot gets a new random word.
pub const SENTENCES: [&str; 64] = [
    "We decided to {v} {d} {s} in {path} because {d} {o} {vd} {r}.",
    "{d} {s} of {name} {vd} after the upgrade to {ver}, and nobody noticed until {day}.",
    "{who} found that `{id}` returns {err} when {d} {o} is {a}.",
    "It turned out that the {a} {s} was never {vd}, so every {o} had to wait for {d} {n}.",
    "The fix was to {v} `{id}` before {d} {s} is {vd}, not after it.",
    "In {where} {d} {s} takes {num} {unit}, which is far more than {d} {o} can bear.",
    "Please do not {v} {d} {o} by hand; there is a {t} for it in {path}.",
    "{d} {t} said {err}, but the real reason was a {a} {n} in {d} {s}.",
    "{who} prefers a {a} {t} over a {a} {n} here, since it is easier to {v}.",
    "When {d} {o} is {a}, {vg} {d} {s} {r} loses a {n}.",
    "After {num} {unit} the {name} {t} gives up and {d} {s} is {vd} again.",
    "We tried {vg} {d} {n} first, and it made no difference to {d} {o}.",
    "{d} {n} belongs to {name}, and only {who} may {v} it.",
    "Since {ver} {d} {s} can be {vd} without {vg} {d} {o}.",
    "There is a {a} {n} left over from the old {t}; it can be {vd} once {name} is gone.",
    "To {v} it, run `{cmd}` and wait until {d} {o} is no longer {a}.",
    "The {a} {o} was the reason why {d} {s} {vd} on {day}.",
    "Remember that {name} counts {d} {o} from zero and {d} {t} counts it from one.",
    "A {a} {n} and a {a} {t} look alike in {d} {s}, so look at `{id}` first.",
    "{who} asked for a {t} that would {v} {d} {s} whenever {err} appears.",
    "If you see {err} in {where}, {v} {d} {n} and start {d} {t} over.",
    "This is only true for {ver}; later {d} {o} was {vd} and {d} {s} with it.",
    "The order matters: first {d} {s}, then {d} {o}, and {d} {n} last.",
    "On {day} {d} {s} had {num} {unit}, and {num} of them were {a}.",
    "Nothing in {path} should ever {v} {d} {o} directly.",
    "{d} {t} in {where} is not the same as the one that {name} has.",
    "We keep {d} {s} {a} on purpose, because {vg} it would {v} {d} {n}.",
    "`{id}` and `{fresh}` must be {vd} together or {d} {o} is lost.",
    "What helped in the end was {vg} {num} {unit} off {d} {n}.",
    "It is {a}, but {d} {s} of {name} depends on it {r}.",
    "{d} {o} of {d} {s} is checked by `{fresh}`, which nobody has {vd} since {ver}.",
    "{who} and {who} agreed that {d} {n} should be {vd} before the next {t}.",
    "One {t} for {d} {s}, one for {d} {o}, and none for {d} {n}: that is the rule.",
    "{d} {s} is {vd} by {name} every {num} {unit}.",
    "Without {d} {o} it works, with {d} {o} it fails with {err}.",
    "The {a} way was to {v} {d} {t}; the better one was to {v} {d} {s}.",
    "Do it in {where} first, and look at {d} {n} before you {v} anything else.",
    "There were {num} {unit} of {n} in {path} when {who} looked on {day}.",
    "For a {a} {s} {d} {t} has to be {vd} as well, as `{id}` does.",
    "The customer saw a {a} {o} for {num} {unit} and then nothing at all.",
    "Our {n} is {a} because {d} {t} that made it was {a}.",
    "That is why {path} has a {s} and a {o} and not just one of them.",
    "Later we may {v} the whole {n}, but not before {name} is {vd}.",
    "The log shows {err} about {num} {unit} after each {t}.",
    "We {vd} it in {ver} and it has been quiet since then.",
    "{d} {s} should not know about {d} {o} at all.",
    "Whoever {vd} {d} {n} last also has to {v} {d} {t}.",
    "A second {s} in {where} made {d} {o} {r} {a}.",
    "It was not {d} {n}, not {d} {t}, and not {d} {s}; it was `{fresh}`.",
    "Use `{fresh}` instead of `{id}` as soon as {d} {o} has more than {num} {unit}.",
    "{d} {t} for {name} is in {path}, next to {d} {n}.",
    "{who} wrote a {t} to {v} {d} {s}, and it is the {a} one that we use.",
    "Every {n} gets its own {o}, even if that means {vg} {num} {unit} more.",
    "{d} {s} is safe to {v} while {d} {o} is {a}, and at no other time.",
    "In short: {v} {d} {s}, keep {d} {o}, and leave {d} {n} to {name}.",
    "By default {d} {t} is {a}, which is wrong for {name} and right for everything else.",
    "It {r} happens that a {n} is {vd} before {d} {s} has been read.",
    "The test for it is in {path} and fails if {d} {o} is not {vd}.",
    "Both {d} {s} and {d} {o} were {a} when {who} came back on {day}.",
    "The limit of {num} {unit} comes from {name}, not from us.",
    "We were told to {v} the {a} {s} only with two people looking at {d} {t}.",
    "As long as `{id}` is {vd} once per {t}, {d} {n} does not matter.",
    "From {ver} on, {path} says which {o} goes with which {s}.",
    "So the answer to the {a} {n} is a {t} and some patience.",
];

/// Templates of prompts by someone who remembers the words of a memory.
pub const KEYWORD_QUESTIONS: [&str; 8] = [
    "what did we decide about the {a} {s} and the {o} for {name}",
    "why was the {s} of {name} {vd} and what has the {o} to do with it",
    "I think the {o} is {a} again, the one that {name} uses for the {s}, please have a look",
    "can you {v} the {s} for {name} without touching the {o}",
    "how do I {v} the {name} {s} when the {o} is {a}",
    "the {s} in {where} is {a} since {day}, {who} said it is the {o} of {name}, what do we know about it",
    "before you start: what were the rules for the {s} and the {o} in {name} that {who} wrote down",
    "please continue with the {name} {s} and make sure that the {o} is not {vd} this time",
];

/// Templates of prompts by someone who has an identifier at hand.
pub const IDENTIFIER_QUESTIONS: [&str; 6] = [
    "where is `{id}` called and why does it return {err}",
    "I get {err} from `{id}` in {path}, what was the fix",
    "please rename `{id}` in {path} and keep everything else as it is",
    "what does `{id}` do since {ver} and who changed it",
    "the test in {path} fails with {err} after the upgrade to {ver}, have we seen this before",
    "add a parameter to `{id}` so that the caller in {path} can choose",
];

/// Templates of prompts by someone who remembers the topic and uses other words.
pub const OTHER_WORDS_QUESTIONS: [&str; 6] = [
    "somebody told me the {s2} and the {o2} get in each other's way, is that so",
    "how come the {s2} goes bad whenever the {o2} is involved",
    "is there anything we agreed on about how to treat a {s2} together with its {o2}",
    "I would like to know what went on with the {o2} the last time the {s2} gave us trouble",
    "which of the two comes first, the {s2} or the {o2}, and does it matter",
    "what should I keep in mind when I work on the {s2} that belongs to the {o2}",
];
