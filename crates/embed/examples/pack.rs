//! `pack FOLDER ID OUT`: a model folder into a model file. `models/make.sh` makes the built-in one with it.

use std::error::Error;
use std::path::Path;

use rekindle_embed::{ModelFiles, pack};

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, id, out] = arguments.as_slice() else {
        return Err("usage: pack FOLDER ID OUT".into());
    };
    let folder = Path::new(folder);
    let optional = |name: &str| std::fs::read(folder.join(name)).ok();
    let (tokenizer, pooling, sentence) = (
        optional("tokenizer_config.json"),
        optional("1_Pooling/config.json"),
        optional("sentence_bert_config.json"),
    );
    let file = pack(&ModelFiles {
        id,
        config: &std::fs::read(folder.join("config.json"))?,
        weights: &std::fs::read(folder.join("model.safetensors"))?,
        vocabulary: &std::fs::read(folder.join("vocab.txt"))?,
        tokenizer: tokenizer.as_deref(),
        pooling: pooling.as_deref(),
        sentence: sentence.as_deref(),
        query_prefix: "",
        passage_prefix: "",
    })?;
    std::fs::write(out, file)?;
    Ok(())
}
