//! The phrases of the rules: one file per concern, eight languages in each, all in lower case and separated
//! by `|`. Most lists are matched at the start of a clause; lists whose names begin with `DENSE` are for
//! scripts without spaces and are matched anywhere in a sentence.

pub(crate) mod cause;
pub(crate) mod change;
pub(crate) mod correction;
pub(crate) mod decision;
pub(crate) mod gate;
pub(crate) mod idea;
pub(crate) mod preference;
pub(crate) mod retold;
pub(crate) mod sentiment;
pub(crate) mod wish;
