//! The floor of every cold-start benchmark: a program that does nothing.

fn main() {}
