//! The multilingual vocabulary: texts in other languages next to English ones.

use rekindle_embed::{
    CrossEncoder, EmbeddingModel, EncoderScratch, Error, MultilingualWords, TextRole, TextVocabulary,
};

const BYTES: &[u8] = include_bytes!("../../../models/multilingual.rkw");
const ENGLISH: [&str; 3] = [
    "The nightly backup fails because the disk is full.",
    "Prices are rounded only when they are shown.",
    "The tests need a running database.",
];
const OTHERS: [[&str; 3]; 4] = [
    [
        "Das nächtliche Backup schlägt fehl, weil die Platte voll ist.",
        "Preise werden erst bei der Anzeige gerundet.",
        "Die Tests brauchen eine laufende Datenbank.",
    ],
    [
        "La copia de seguridad nocturna falla porque el disco está lleno.",
        "Los precios se redondean solo cuando se muestran.",
        "Las pruebas necesitan una base de datos en marcha.",
    ],
    [
        "La sauvegarde nocturne échoue parce que le disque est plein.",
        "Les prix ne sont arrondis qu'à l'affichage.",
        "Les tests ont besoin d'une base de données en marche.",
    ],
    [
        "O backup noturno falha porque o disco está cheio.",
        "Os preços só são arredondados quando são exibidos.",
        "Os testes precisam de um banco de dados rodando.",
    ],
];

/// The file at an address that is a multiple of 64, changed by `change`.
fn with_bytes<Result>(change: impl Fn(&mut [u8]), then: impl FnOnce(&[u8]) -> Result) -> Result {
    let mut room = vec![0; BYTES.len() + 64];
    let start = room.as_ptr().align_offset(64);
    room[start..start + BYTES.len()].copy_from_slice(BYTES);
    let own = &mut room[start..start + BYTES.len()];
    change(own);
    then(own)
}

fn vector(vocabulary: TextVocabulary, text: &str) -> Vec<f32> {
    EmbeddingModel::builtin().embed_as(&mut EncoderScratch::new(), TextRole::Query, vocabulary, text)
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[test]
fn rec_01_a_translation_is_nearest_to_its_english_text() {
    let english = ENGLISH.map(|text| vector(TextVocabulary::English, text));
    for texts in OTHERS {
        for (at, text) in texts.into_iter().enumerate() {
            let own = vector(TextVocabulary::Multilingual, text);
            let all: Vec<f32> = english.iter().map(|other| cosine(&own, other)).collect();
            assert!(all[at] > 0.6, "{text}: {all:?}");
            assert!(
                all.iter().enumerate().all(|(place, found)| place == at || *found < all[at]),
                "{text}: {all:?}"
            );
        }
    }
}

#[test]
fn b_06_the_cross_encoder_reads_other_languages() {
    let cross_encoder = CrossEncoder::builtin();
    let score = |(one, prompt): (TextVocabulary, &str), (other, memory): (TextVocabulary, &str)| {
        let (prompt, passage) =
            (cross_encoder.prompt_as(one, prompt), cross_encoder.passage_as(other, memory));
        cross_encoder.score(&mut EncoderScratch::new(), &prompt, &[passage])[0]
    };
    let (english, other) = (TextVocabulary::English, TextVocabulary::Multilingual);
    let prompt = (other, "warum schlägt das Backup in der Nacht fehl?");
    for memory in [(other, OTHERS[0][0]), (english, ENGLISH[0])] {
        for unrelated in [(other, OTHERS[0][1]), (english, ENGLISH[1])] {
            assert!(score(prompt, memory) > score(prompt, unrelated) + 1.0, "{memory:?} {unrelated:?}");
        }
    }
}

#[test]
fn rec_01_a_batch_of_two_languages_is_as_each_text_alone() {
    let texts = [
        (TextVocabulary::English, ENGLISH[0]),
        (TextVocabulary::Multilingual, OTHERS[0][0]),
        (TextVocabulary::English, ""),
    ];
    let batch = EmbeddingModel::builtin().embed_batch_as(TextRole::Query, &texts, 2);
    for ((vocabulary, text), found) in texts.into_iter().zip(batch) {
        assert_eq!(found, vector(vocabulary, text), "{text}");
    }
}

#[test]
fn sto_11_the_shipped_vocabulary_is_undamaged_and_damage_is_named() {
    let model = EmbeddingModel::builtin();
    let words = MultilingualWords::builtin();
    assert_eq!(words.verify(), Ok(()));
    assert!(words.pieces() > 8_000 && words.size() == BYTES.len());
    assert!(words.size() < 15_000_000, "{}", words.size());
    let last = BYTES.len() - 1;
    let changed = with_bytes(
        |bytes| bytes[last] ^= 1,
        |bytes| MultilingualWords::from_bytes(model, bytes).unwrap().verify(),
    );
    assert!(matches!(changed, Err(Error::Checksum { .. })), "{changed:?}");
    let foreign =
        with_bytes(|bytes| bytes[0] = b'x', |bytes| MultilingualWords::from_bytes(model, bytes).unwrap_err());
    assert_eq!(foreign, Error::Foreign);
    let cut = with_bytes(|_| {}, |bytes| MultilingualWords::from_bytes(model, &bytes[..last]).unwrap_err());
    assert!(matches!(cut, Error::Length { .. }), "{cut:?}");
}
