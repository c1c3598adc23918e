//! Topics of the paraphrased questions: each expressed twice, with hardly a word in common.

/// Parts of a system, in the words of a memory and in those of a question.
pub(super) const PARTS: [(&str, &str); 10] = [
    ("payments service", "billing backend"),
    ("login page", "sign-in screen"),
    ("search index", "lookup catalogue"),
    ("mobile client", "phone app"),
    ("report exporter", "spreadsheet generator"),
    ("message queue", "event broker"),
    ("photo uploader", "picture importer"),
    ("build pipeline", "CI workflow"),
    ("map renderer", "atlas widget"),
    ("chat room", "conversation channel"),
];

/// Facts in the words of a memory, and as a question by somebody who does not know those words. `{}` is a
/// part.
pub(super) const CONCEPTS: [(&str, &str); 60] = [
    (
        "The {} ran out of memory because nothing was ever evicted.",
        "why does RAM usage of our {} grow without bound",
    ),
    (
        "Requests to the {} are retried three times with growing pauses.",
        "how often do we repeat a failed call to the {}",
    ),
    (
        "The {} is slow on Mondays, when weekly jobs share its disk.",
        "poor performance of the {} at the start of the week",
    ),
    (
        "Deploying the {} needs approval by two people.",
        "who must sign off before we ship the {} to production",
    ),
    (
        "The {} stores times in UTC and converts for display only.",
        "which timezone do dates have inside the {}",
    ),
    (
        "Duplicate entries in the {} came from a missing unique constraint.",
        "things show up twice in the {}, what was the cause",
    ),
    (
        "The {} keeps logs for thirty days, then deletes them.",
        "how long can I look back at the history of the {}",
    ),
    (
        "Passwords for the {} live in the vault, never in the repository.",
        "where do I find the credentials of the {}",
    ),
    (
        "The {} falls back to cached answers while the network is down.",
        "what happens to the {} when we are offline",
    ),
    (
        "Tests of the {} are flaky since they depend on the wall clock.",
        "random red runs in the checks for the {}",
    ),
    ("The {} rejects files above twenty megabytes.", "maximum size of an attachment accepted by the {}"),
    (
        "We chose Postgres over Mongo for the {} because of joins.",
        "reason for the relational database behind the {}",
    ),
    ("The {} crashed on names with emoji.", "unusual characters break the {}"),
    (
        "Backups of the {} are made at night and rehearsed quarterly.",
        "could we recover the {} after losing everything",
    ),
    (
        "The {} has a rate limit of a hundred calls per minute.",
        "how many hits can a customer make on the {} before being throttled",
    ),
    (
        "Colours in the {} follow the contrast rules for weak eyesight.",
        "is the {} usable by visually impaired people",
    ),
    (
        "The {} was rewritten in Rust after the garbage collector stalled it.",
        "motive for the new programming language of the {}",
    ),
    ("Only administrators may remove records in the {}.", "am I permitted to delete something from the {}"),
    ("The {} sends mail through an outside provider.", "how do notifications of the {} reach an inbox"),
    (
        "A deadlock in the {} was cured by locking in a fixed order.",
        "the {} used to freeze with two threads waiting on each other",
    ),
    (
        "The {} is versioned by date and supports the last two releases.",
        "how old may a consumer of the {} be",
    ),
    (
        "Secrets were leaked by the {} in debug output, so that is off.",
        "sensitive data appearing in the trace of the {}",
    ),
    (
        "The {} scales horizontally up to eight copies.",
        "can we add more instances of the {} under heavy load",
    ),
    (
        "Translations of the {} are done by volunteers in spring.",
        "who localises the text of the {} into other languages",
    ),
    ("The {} compresses everything before it goes over the wire.", "do we shrink traffic from the {}"),
    ("Money amounts in the {} are whole cents, not floats.", "rounding of prices within the {}"),
    ("The {} waits five seconds and then gives up.", "timeout configured for the {}"),
    ("Feature switches of the {} expire after a quarter.", "cleaning up old toggles in the {}"),
    (
        "The {} writes to a temporary file and renames it.",
        "how does the {} avoid half-finished output after a power cut",
    ),
    ("Anna owns the {} and reviews each change.", "person responsible for the {}"),
    (
        "The {} uses pagination by cursor since offsets skipped rows.",
        "missing results while browsing through lists in the {}",
    ),
    ("The certificate of the {} is renewed automatically in March.", "when does TLS for the {} run out"),
    (
        "The {} validates input at the edge and trusts it afterwards.",
        "where are bad arguments caught in the {}",
    ),
    (
        "Metrics of the {} are scraped every fifteen seconds.",
        "how fresh are the monitoring figures of the {}",
    ),
    ("The {} keeps at most fifty open connections.", "size of the pool in the {}"),
    (
        "Old accounts in the {} are anonymised after two years.",
        "privacy handling of inactive users in the {}",
    ),
    ("The {} needs Java 21, older ones fail on start.", "which runtime must be installed for the {}"),
    ("Rolling back the {} takes four minutes with one command.", "undo a bad release of the {} quickly"),
    ("The {} sorts by relevance first and age second.", "what determines the order of items in the {}"),
    (
        "Images in the {} load lazily when they come into view.",
        "why is graphic content of the {} fetched late",
    ),
    ("The {} talks gRPC inside and REST outside.", "protocols spoken by the {}"),
    ("An off-by-one error in the {} dropped the final element.", "last row is lost by the {}"),
    ("The {} runs in Frankfurt for legal reasons.", "geographic location of the {} hosting"),
    (
        "Configuration of the {} is read once, so restart after edits.",
        "my settings for the {} have no effect",
    ),
    ("The {} asks for consent before it sets cookies.", "GDPR banner and tracking in the {}"),
    ("Sessions in the {} end after an hour without activity.", "why am I logged out of the {} so soon"),
    (
        "The {} was split in two since nobody understood it whole.",
        "history of how the {} got separated into pieces",
    ),
    ("Spam in the {} is filtered by a word list and a score.", "unwanted junk reaching the {}"),
    ("The {} prints invoices as PDF with a fixed layout.", "format of bills produced via the {}"),
    ("Load tests of the {} run against a copy of production.", "stress trial environment for the {}"),
    ("The {} uses optimistic locking with a revision number.", "two editors overwrite each other in the {}"),
    ("Documentation of the {} is generated from comments.", "where do the manuals for the {} come from"),
    ("The {} has a kill switch in the admin panel.", "emergency stop for the {}"),
    ("Uploads to the {} are scanned for viruses.", "malware protection of the {}"),
    ("The {} charges per seat, billed yearly.", "licence pricing model for the {}"),
    ("Keyboard shortcuts of the {} can be remapped.", "customise hotkeys in the {}"),
    ("The {} indexes new content within a minute.", "delay until fresh articles can be found by the {}"),
    ("Dark mode in the {} follows the operating system.", "night theme of the {}"),
    (
        "The {} merges conflicting edits by taking the newest.",
        "how are clashing modifications resolved by the {}",
    ),
    ("Outages of the {} page whoever is on call that week.", "who gets woken up if the {} breaks"),
];
