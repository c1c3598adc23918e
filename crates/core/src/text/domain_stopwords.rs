//! Terms that occur in every programmer's prompts, whatever the project.
//!
//! "Write a function that sorts a list" shares half of its words with any vault. These words are rarer in
//! general English than in programming, so frequencies from general English overrate them.

/// The terms as the index stores them, that is, stemmed; in alphabetical order.
const DOMAIN_STOPWORDS: &str = "add again algorithm answer api app argument array bash best better branch browser bug build button c \
    cach chang check class client closur code column command comment commit complexiti component comput \
    contain continu convert copi count creat css csv data date day debug default delet describ dict \
    differ docker editor error exampl except explain fail field file find first fix flag folder form \
    format function gener git give go good graph great hash hello help hi html http idea imag implement \
    import input integ interfac java javascript join json key know last librari line linux list log look \
    loop mac make map mean merg method modul morn move name need new next nice night number object ok \
    old option output packag page pars path pleas pointer print proceed program pull push python \
    question queue read rebas recurs regex remov renam repeat replac repo revers right row run rust \
    script search server set shell show simpl site sorri sort split sql stack start step stop string \
    structur style sum summaris tabl tell terminal test text thank thing think time today trace translat \
    tree tri tupl type typescript undo unit updat url use user valu variabl vim want warn way web window \
    word work write wrong xml yaml yes";

/// True if a term says little about the subject of a programmer's prompt.
pub fn is_domain_stopword(term: &str) -> bool {
    DOMAIN_STOPWORDS.split(' ').any(|word| word == term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_06_the_words_of_the_trade_are_commonplace_and_a_subject_is_not() {
        for term in ["function", "python", "list", "write", "error"] {
            assert!(is_domain_stopword(term), "{term}");
        }
        for term in ["idempot", "terraform", "ledger", "", " "] {
            assert!(!is_domain_stopword(term), "{term:?}");
        }
    }

    #[test]
    fn the_list_is_in_order_and_names_nothing_twice() {
        let words: Vec<&str> = DOMAIN_STOPWORDS.split(' ').collect();
        assert!(words.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
