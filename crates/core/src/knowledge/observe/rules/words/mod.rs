//! The words that the rules go by: a file for each concern, eight languages in each, every phrase in lower case and
//! parted by `|`. Where a list is looked for at the beginning of a clause it says nothing about that; the lists whose
//! names begin with `DENSE` are for scripts without spaces and are looked for anywhere in a sentence.

pub(crate) mod cause;
pub(crate) mod change;
pub(crate) mod correct;
pub(crate) mod decide;
pub(crate) mod feel;
pub(crate) mod gate;
pub(crate) mod idea;
pub(crate) mod prefer;
pub(crate) mod retold;
pub(crate) mod wish;
