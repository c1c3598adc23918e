//! Light stemmers for German, Spanish, French and Portuguese.
//!
//! They see words in lower case without accents, as the splitter folds them. Snowball's algorithms need the accents and
//! are ten times as long; for search, removing the common endings does nearly as well.

use crate::text::language::Language;

/// An ending, its replacement, and the number of letters that must remain before it.
type Ending = (&'static str, &'static str, usize);

/// Plurals, cases and genders.
const GERMAN_FORMS: &[Ending] = &[
    ("innen", "", 4),
    ("ern", "", 3),
    ("em", "", 4),
    ("en", "", 3),
    ("er", "", 4),
    ("es", "", 4),
    ("e", "", 3),
    ("s", "", 4),
    ("n", "", 5),
];
/// Word formation.
const GERMAN_DERIVED: &[Ending] = &[
    ("ierung", "ier", 4),
    ("ung", "", 5),
    ("heit", "", 4),
    ("keit", "", 4),
    ("lich", "", 4),
    ("isch", "", 4),
    ("st", "", 5),
    ("er", "", 5),
    ("en", "", 5),
    ("t", "", 5),
];
const SPANISH_FORMS: &[Ending] = &[
    ("iones", "ion", 2),
    ("ces", "z", 3),
    ("ores", "or", 3),
    ("ales", "al", 2),
    ("es", "", 4),
    ("s", "", 3),
];
const SPANISH_DERIVED: &[Ending] = &[
    ("amientos", "", 3),
    ("amiento", "", 3),
    ("imiento", "", 3),
    ("aciones", "", 3),
    ("acion", "", 3),
    ("icion", "", 3),
    ("adora", "", 3),
    ("ador", "", 3),
    ("mente", "", 4),
    ("ieron", "", 3),
    ("iendo", "", 3),
    ("aron", "", 3),
    ("ando", "", 3),
    ("aban", "", 3),
    ("amos", "", 3),
    ("emos", "", 3),
    ("imos", "", 3),
    ("aba", "", 3),
    ("ado", "", 3),
    ("ada", "", 3),
    ("ido", "", 3),
    ("ida", "", 3),
    ("ion", "", 4),
    ("ar", "", 3),
    ("er", "", 3),
    ("ir", "", 3),
    ("an", "", 4),
    ("en", "", 4),
    ("a", "", 3),
    ("o", "", 3),
    ("e", "", 3),
];
const FRENCH_FORMS: &[Ending] =
    &[("eaux", "eau", 2), ("aux", "al", 3), ("ees", "e", 3), ("es", "e", 3), ("s", "", 3), ("x", "", 4)];
const FRENCH_DERIVED: &[Ending] = &[
    ("issement", "", 3),
    ("ations", "", 3),
    ("ation", "", 3),
    ("ements", "", 3),
    ("ement", "", 3),
    ("aient", "", 3),
    ("euse", "", 3),
    ("ment", "", 4),
    ("eur", "", 3),
    ("ant", "", 4),
    ("ait", "", 4),
    ("ent", "", 4),
    ("ion", "", 4),
    ("ee", "", 3),
    ("er", "", 3),
    ("ez", "", 3),
    ("ir", "", 3),
    ("ie", "", 4),
    ("e", "", 3),
    ("i", "", 4),
];
const PORTUGUESE_FORMS: &[Ending] = &[
    ("coes", "cao", 2),
    ("oes", "ao", 2),
    ("aes", "ao", 2),
    ("ais", "al", 3),
    ("eis", "el", 3),
    ("ns", "m", 2),
    ("res", "r", 3),
    ("s", "", 3),
];
const PORTUGUESE_DERIVED: &[Ending] = &[
    ("amento", "", 3),
    ("imento", "", 3),
    ("acao", "", 3),
    ("icao", "", 3),
    ("adora", "", 3),
    ("ador", "", 3),
    ("mente", "", 4),
    ("aram", "", 3),
    ("eram", "", 3),
    ("ando", "", 3),
    ("endo", "", 3),
    ("indo", "", 3),
    ("amos", "", 3),
    ("emos", "", 3),
    ("avam", "", 3),
    ("ava", "", 3),
    ("ado", "", 3),
    ("ada", "", 3),
    ("ido", "", 3),
    ("ida", "", 3),
    ("sao", "s", 3),
    ("ar", "", 3),
    ("er", "", 3),
    ("ir", "", 3),
    ("ou", "", 3),
    ("am", "", 4),
    ("em", "", 4),
    ("a", "", 3),
    ("o", "", 3),
    ("e", "", 3),
];

/// Stems a word of lower-case ASCII letters in place. Any other word stays as it is.
pub(super) fn stem_in(language: Language, word: &mut String) {
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let steps = match language {
        Language::German => [GERMAN_FORMS, GERMAN_DERIVED],
        Language::Spanish => [SPANISH_FORMS, SPANISH_DERIVED],
        Language::French => [FRENCH_FORMS, FRENCH_DERIVED],
        Language::Portuguese => [PORTUGUESE_FORMS, PORTUGUESE_DERIVED],
    };
    for endings in steps {
        let found = endings
            .iter()
            .find(|(ending, _, least)| word.len() >= ending.len() + least && word.ends_with(ending));
        if let Some((ending, replacement, _)) = found {
            word.truncate(word.len() - ending.len());
            word.push_str(replacement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rec_01_forms_of_a_word_meet() {
        for (language, forms) in [
            (Language::German, vec!["datenbank", "datenbanken"]),
            (Language::German, vec!["rechnung", "rechnungen"]),
            (Language::German, vec!["fehler", "fehlern"]),
            (Language::German, vec!["tabelle", "tabellen"]),
            (Language::German, vec!["bestand", "bestande", "bestanden"]),
            (Language::Spanish, vec!["migracion", "migraciones", "migrar", "migrando"]),
            (Language::Spanish, vec!["pedido", "pedidos"]),
            (Language::Spanish, vec!["prueba", "pruebas"]),
            (Language::French, vec!["sauvegarde", "sauvegardes", "sauvegarder"]),
            (Language::French, vec!["journal", "journaux"]),
            (Language::French, vec!["migration", "migrations", "migrer"]),
            (Language::Portuguese, vec!["configuracao", "configuracoes", "configurar"]),
            (Language::Portuguese, vec!["pedido", "pedidos"]),
            (Language::Portuguese, vec!["arquivo", "arquivos"]),
        ] {
            let stems: Vec<String> = forms
                .iter()
                .map(|form| {
                    let mut word = (*form).to_owned();
                    stem_in(language, &mut word);
                    word
                })
                .collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} {stems:?}");
        }
    }

    #[test]
    fn rec_01_short_words_and_names_keep_their_endings() {
        for word in ["api", "e2e", "das", "größe"] {
            for language in [Language::German, Language::Spanish, Language::French, Language::Portuguese] {
                let mut stemmed = word.to_owned();
                stem_in(language, &mut stemmed);
                assert_eq!(stemmed, word);
            }
        }
    }
}
