//! Word lists for detecting pasted text, by language.

/// Requests to process a text that is pasted after them.
pub(super) const HANDS_OVER: &str = "\
summarise | summarize | summary of | sum up | tldr | tl;dr | translate | proofread | paraphrase | rephrase
answer this | answer them | reply please | please reply | reply to | draft a reply | write a reply | respond to this
explain this | see below | as follows | look at this | read this | what does this mean | what do you think of this
this mail | this email | this e-mail | this letter | this readme | this page | this article | this post | this thread
this wiki | this chat
fasse | zusammenfassen | übersetze | übersetz | beantworte | antworte auf | antworte ihm | antworte ihr
diese mail | diese nachricht | diese seite | diesen text | diesen artikel
resume este | resume esta | resume esto | traduce | responde a | este correo | esta página | este artículo
résume | traduis | réponds à | ce mail | cette page | cet article
resuma | traduz | traduza | responda a | este email | este artigo
переведи | перескажи | ответь на | это письмо | эту страницу
";

/// The same, if a blank line or a colon follows: otherwise people may go on in their own words.
pub(super) const PERHAPS_HANDS_OVER: &str = "\
review this | check this | this message | this ticket | this issue | this comment | this review | this doc | this document
this file | this spec | this text | this snippet | this section | respond to
dieses ticket | dieses dokument | este mensaje | este texto | este documento | ce message | ce texte | ce document
esta mensagem | это сообщение | этот текст
";

/// The same for languages without spaces.
pub(super) const DENSE_HANDS_OVER: &str = "\
要約 | 翻訳 | 返信 | このメール | この文章 | このページ | 总结 | 翻译 | 回复 | 这封邮件 | 这篇 | 这段文字
";

/// Words at the end of a line that point to the text below, if a blank line or a colon follows.
pub(super) const POINTS_BELOW: &[&str] = &["this", "these", "below", "following"];

/// Field names that alone identify a mail, a ticket, a commit or the head of a page.
pub(super) const FIELDS: &str = "\
from | subject | cc | bcc | sent | reply-to | message-id | author | reporter | assignee | fix version | fix versions
acceptance criteria | steps to reproduce | story points
von | betreff | gesendet | asunto | objet | assunto
";

/// Field names that people also use before their own words; two of them make a head.
pub(super) const WEAK_FIELDS: &str = "\
to | date | status | priority | labels | label | sprint | description | component | components | created | updated | type
environment | title | tags | name | version | license | severity | due | team
an | datum | de | à | para
";

/// Greetings in front of a name, as in letters.
pub(super) const GREETINGS: &str = "\
hi | hello | hey | dear | good morning | good afternoon
hallo | liebe | lieber | sehr geehrte | sehr geehrter | guten tag | guten morgen
hola | estimado | estimada | bonjour | cher | chère | salut | olá | prezado | prezada | caro | cara
здравствуйте | привет | уважаемый | уважаемая
";

/// Addressees that people greet without writing a letter.
pub(super) const ADDRESSEES: &str = "\
there | again | claude | codex | gemini | pi | gpt | chatgpt | copilot | agent | assistant | bot | buddy | mate | friend | man
";

/// First words of an order, which is not a title.
pub(super) const ORDERS: &str = "\
use | prefer | run | never | always | don't | do | avoid | keep | add | make | write | call | put | deploy | ship | test
fix | no | not | remember | please | we | i | it | ask | check | set | send | start | stop | let
";

/// Closings of letters, in front of a name.
pub(super) const CLOSINGS: &str = "\
best | best regards | kind regards | regards | warm regards | best wishes | all the best | cheers | sincerely | yours
yours sincerely | yours truly | many thanks | thanks | thank you | thanks and regards | thanks in advance
mfg | viele grüße | liebe grüße | beste grüße | mit freundlichen grüßen | gruß | grüße | lg | vg | danke
saludos | un saludo | atentamente | cordialement | bien à vous | bien cordialement | merci
atenciosamente | abraços | um abraço | obrigado | obrigada | с уважением | всего доброго | спасибо
";

/// Openings of lines that programs print.
pub(super) const PRINTED: &[&str] = &[
    "npm ERR!",
    "npm error",
    "npm WARN",
    "npm warn",
    "npm notice",
    "yarn run ",
    "make: ",
    "make[",
    "Traceback (most recent",
    "Exception in thread",
    "Caused by:",
    "thread '",
    "fatal: ",
    "BUILD FAILED",
    "BUILD SUCCESS",
    "FAILED ",
    "FAIL ",
    "PASS ",
    "diff --git ",
    "@@ ",
    "+++ ",
    "--- ",
];

/// Openings of lines of code.
pub(super) const CODE: &[&str] = &[
    "def ",
    "async def ",
    "class ",
    "import ",
    "from ",
    "fn ",
    "pub fn ",
    "function ",
    "export ",
    "const ",
    "let ",
    "var ",
    "public ",
    "private ",
    "static ",
    "#include",
    "#!/",
    "@",
    "if (",
    "for (",
    "while (",
    "return;",
    "return ",
    "package ",
    "using ",
    "SELECT ",
    "INSERT ",
];
