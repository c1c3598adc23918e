//! `rekindle`.

fn main() {}
