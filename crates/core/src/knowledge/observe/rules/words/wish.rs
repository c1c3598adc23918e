//! Requests to remember that may be one-offs.

/// First words of a clause that asks mildly.
pub(crate) const MILDLY: &str = "\
remember to | keep in mind | bear in mind
denk daran, | denk dran, | behalte im kopf | behalte im hinterkopf
ten en cuenta | ten presente
garde en tête | garde à l'esprit | gardez à l'esprit
tenha em mente | tem em mente
имей в виду | имейте в виду | учти | учтите
";

/// Requests in the form of a question, which ask for work and not for an answer.
pub(crate) const REQUESTS: &str = "\
can you | could you | would you | will you | can we | could we | may i ask you | please can | shall we | would it be possible
kannst du | könntest du | können wir | könnten wir | würdest du | können sie | könnten sie
puedes | podrías | puede | podría | podemos | ¿puedes | ¿podrías | ¿puede | ¿podemos
peux-tu | pourrais-tu | pouvez-vous | pourriez-vous | tu peux | est-ce que tu peux | on peut
você pode | pode | poderia | podes | podemos
можешь | можете | мог бы | можем
";
