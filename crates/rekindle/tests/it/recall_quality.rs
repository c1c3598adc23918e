//! A small vault with fixed questions (VER-16) and the expected memories among the five results. The built-in
//! model and the ranking are deterministic, so the expectations are exact.

use std::collections::BTreeMap;

use crate::{found, recall, sandbox};

/// Fifty memories of a team that runs an online bookshop: slug, kind and text.
const VAULT: [(&str, &str, &str); 50] = [
    ("db-port", "fact", "The staging Postgres listens on port 5433; 5432 belongs to the old replica."),
    (
        "db-backup",
        "howto",
        "Database backups run at 02:30 with pgBackRest and are kept for thirty days in the Frankfurt bucket.",
    ),
    (
        "db-restore",
        "howto",
        "To restore the database, stop the workers, run restore.sh with the timestamp, then replay the WAL.",
    ),
    (
        "db-index",
        "fix",
        "Search by author was slow until we added a trigram index on authors.name; it went from 900 ms to 12 ms.",
    ),
    (
        "db-pool",
        "fix",
        "Too many connections in the evening came from PgBouncer in session mode; transaction mode solved it.",
    ),
    (
        "db-migration",
        "rule",
        "Migrations must be reversible and are applied by the deploy job, never from a laptop.",
    ),
    (
        "pay-provider",
        "decision",
        "We chose Mollie over Stripe for payments because most customers pay with iDEAL.",
    ),
    (
        "pay-webhook",
        "fix",
        "Payment webhooks arrive twice now and then; handle_payment_event() is idempotent by the event id.",
    ),
    (
        "pay-refund",
        "howto",
        "Refunds above 200 euros need a second person to approve them in the back office.",
    ),
    ("pay-vat", "rule", "Books have reduced VAT in Germany (7 %) but e-books had 19 % until December 2019."),
    (
        "pay-rounding",
        "fix",
        "Invoices were off by a cent since totals were rounded per line; now the sum is rounded once.",
    ),
    (
        "ship-carrier",
        "decision",
        "Parcels go with DHL, letters with the regional post; UPS lost too many in Austria.",
    ),
    ("ship-label", "fix", "Labels printed blank because the Zebra printer wants ZPL at 203 dpi, not PDF."),
    ("ship-weight", "fact", "The weight of a parcel is the sum of its books plus 120 grams for the box."),
    ("ship-cutoff", "rule", "Orders before 15:00 leave the same day; the picking list is closed at 15:10."),
    (
        "ship-returns",
        "howto",
        "For a return, scan the slip, put the book on the blue shelf and press Restock.",
    ),
    (
        "ci-cache",
        "fix",
        "CI took 25 minutes because the cargo cache key held the date; keyed by the lock file it takes 6.",
    ),
    (
        "ci-flaky",
        "fix",
        "The flaky checkout test waited for a toast; it now waits for the order number in the URL.",
    ),
    (
        "ci-runner",
        "fact",
        "The self-hosted runner is a NUC under the desk and has to be restarted after power cuts.",
    ),
    ("ci-secrets", "rule", "Secrets for pipelines are in Vault under ci/; nobody pastes them into YAML."),
    (
        "rel-process",
        "howto",
        "A release is cut on Tuesdays: tag, wait for the signing job, then promote the image.",
    ),
    (
        "rel-rollback",
        "howto",
        "Roll back by promoting the previous image; the schema stays compatible for one version.",
    ),
    ("rel-freeze", "rule", "Nothing is deployed between the tenth and the twenty-sixth of December."),
    ("rel-changelog", "preference", "Ada wants the changelog written for customers, without ticket numbers."),
    (
        "web-framework",
        "decision",
        "The shop front is server-rendered with htmx; React was too heavy for five pages.",
    ),
    ("web-images", "fix", "Covers looked blurred on phones until srcset offered the 2x variant."),
    (
        "web-cookies",
        "rule",
        "No cookie is set before consent, not even for the cart; the cart lives in the URL token.",
    ),
    (
        "web-search",
        "decision",
        "Full-text search uses Tantivy with German stemming; Elasticsearch needed a machine of its own.",
    ),
    ("web-a11y", "rule", "Every form field has a visible label, and the contrast is checked by axe in CI."),
    (
        "web-locale",
        "fix",
        "Prices showed a dot instead of a comma because Intl was given en-GB as a fallback.",
    ),
    (
        "mail-provider",
        "decision",
        "Newsletters go out through Postmark's broadcast stream, order mails through the transactional one.",
    ),
    (
        "mail-spam",
        "fix",
        "Order confirmations landed in spam until the DKIM record was published for the subdomain.",
    ),
    (
        "mail-template",
        "howto",
        "Mail templates are MJML files; run make mails and look at the preview on port 1080.",
    ),
    (
        "ops-oncall",
        "fact",
        "On-call changes on Monday at nine; the phone number forwards to whoever is in the calendar.",
    ),
    (
        "ops-alerts",
        "rule",
        "An alert that nobody acted on three times is deleted or turned into a dashboard.",
    ),
    (
        "ops-logs",
        "howto",
        "Logs are in Loki; filter by {app=\"shop\"} and look for the request id from the error page.",
    ),
    ("ops-disk", "fix", "The disk filled up with journald logs; SystemMaxUse is now 500M on every host."),
    (
        "ops-certs",
        "howto",
        "Certificates renew themselves with lego, except the one for the warehouse scanner, in March by hand.",
    ),
    ("ops-dns", "fact", "DNS is at deSEC; changes go through the zone file in the infra repository."),
    ("sec-passwords", "decision", "Passwords are hashed with argon2id, 64 MiB and three passes."),
    (
        "sec-login",
        "fix",
        "Login was open to enumeration because unknown addresses answered faster; both paths now hash.",
    ),
    (
        "sec-deps",
        "rule",
        "cargo-deny runs every night; a yanked crate breaks the build, an advisory opens an issue.",
    ),
    (
        "sec-gdpr",
        "howto",
        "For a deletion request run gdpr_erase_customer with the customer number; invoices are kept for ten years.",
    ),
    (
        "team-reviews",
        "preference",
        "Pull requests stay below 300 changed lines, and reformatting is a commit of its own.",
    ),
    (
        "team-meeting",
        "fact",
        "The planning meeting is on Wednesdays at ten, and ends after forty minutes whatever happens.",
    ),
    ("team-naming", "preference", "Branches are named after the ticket: shop-123-short-words."),
    ("team-language", "preference", "Code and commits are in English, talks with customers in German."),
    (
        "stock-sync",
        "fix",
        "Stock went negative when two warehouses booked at once; bookings now lock the row of the ISBN.",
    ),
    (
        "stock-isbn",
        "rule",
        "ISBN-10 numbers are converted to ISBN-13 at the door; nothing inside knows the old form.",
    ),
    ("stock-preorder", "decision", "Preorders are charged when the book ships, not when it is ordered."),
];

/// Questions with the memories expected among the five results.
const QUESTIONS: [(&str, &[&str]); 20] = [
    ("which port is the staging database on", &["db-port"]),
    ("how do I get yesterday's data back after a crash", &["db-restore", "db-backup"]),
    ("the database refuses connections at night", &["db-pool"]),
    ("who may run a schema migration", &["db-migration"]),
    ("why don't we use Stripe", &["pay-provider"]),
    ("handle_payment_event is called two times", &["pay-webhook"]),
    ("a customer wants their money back", &["pay-refund"]),
    ("cent differences on invoices", &["pay-rounding"]),
    ("the label printer produces empty stickers", &["ship-label"]),
    ("until when must somebody order to get it shipped today", &["ship-cutoff"]),
    ("the build pipeline is slow", &["ci-cache"]),
    ("how do we release and how do we go back", &["rel-process", "rel-rollback"]),
    ("can I deploy on christmas", &["rel-freeze"]),
    ("book covers are fuzzy on a mobile screen", &["web-images"]),
    ("our emails end up in the junk folder", &["mail-spam"]),
    ("where do I find the logs of a failed request", &["ops-logs"]),
    ("renewing TLS certificates", &["ops-certs"]),
    ("gdpr_erase_customer", &["sec-gdpr"]),
    ("how big may a pull request be", &["team-reviews"]),
    ("two warehouses sell the same last copy", &["stock-sync"]),
];

/// Questions unrelated to the shop's memories.
const ELSEWHERE: [&str; 5] = [
    "tell me a joke about penguins",
    "thanks, looks good to me!",
    "who won the world cup in 1998",
    "write a function that reverses a linked list",
    "how do I cook rice",
];

#[test]
fn ver_16_fixed_questions_find_what_they_must_among_the_first_five() {
    let sandbox = sandbox();
    let mut slugs = BTreeMap::new();
    for (number, (slug, kind, body)) in VAULT.iter().enumerate() {
        let id = format!("m-{number:012}");
        let head =
            format!("id: {id}\nkind: {kind}\nstatus: active\ncreated: 2026-0{}-01T08:00:00Z", 1 + number % 9);
        sandbox.write(format!("personal-private/{kind}/{slug}.md"), format!("---\n{head}\n---\n\n{body}\n"));
        slugs.insert(id, *slug);
    }
    assert_eq!(slugs.len(), 50);
    sandbox.rekindle(&["reindex"]).run().ok();
    let (mut first, mut silent) = (0, Vec::new());
    for (question, expected) in QUESTIONS {
        let answer = recall(&sandbox, question, &["--anyway"]);
        assert_eq!(answer["degraded"], serde_json::json!([]), "{question}: {answer}");
        if recall(&sandbox, question, &[])["abstained"] == true {
            silent.push(question);
        }
        let shown: Vec<&str> = found(&answer).into_iter().map(|id| slugs[id]).collect();
        assert!(
            shown.len() <= 5 && expected.iter().all(|slug| shown.contains(slug)),
            "{question}: {shown:?}"
        );
        first += usize::from(expected.contains(&shown[0]));
    }
    assert!(first >= 16, "only {first} of 20 have it in the first place");
    // Silence may cost three points of R@5 (B-06): of these, one.
    assert!(silent.len() <= 1, "silent on {silent:?}");
    for prompt in ELSEWHERE {
        let answer = recall(&sandbox, prompt, &[]);
        assert_eq!(answer["abstained"], true, "{prompt}: {answer}");
    }
}

#[test]
fn ver_13_related_texts_stand_clearly_above_unrelated_ones() {
    let sandbox = sandbox();
    let alike = |one: &str, other: &str| {
        let said = sandbox.rekindle(&["model", "compare", one, other, "--json"]).run().ok().json();
        said["cosine"].as_f64().unwrap()
    };
    let pairs = [
        ("The database backup runs every night.", "Each evening we save a copy of Postgres."),
        ("Login fails with a wrong password.", "The user cannot sign in."),
        ("Our emails are classified as spam.", "Messages end up in the junk folder."),
        ("The tests are flaky on Mondays.", "A unit test sometimes fails for no reason."),
    ];
    for (place, (one, other)) in pairs.iter().enumerate() {
        let related = alike(one, other);
        assert!((related - alike(other, one)).abs() < 1e-6, "it is the same both ways");
        for (_, stranger) in
            pairs.iter().enumerate().filter(|(at, _)| *at != place).map(|(at, pair)| (at, pair.1))
        {
            let unrelated = alike(one, stranger);
            assert!(
                related > unrelated + 0.15,
                "{one:?}: {related} to {other:?}, {unrelated} to {stranger:?}"
            );
        }
    }
}
