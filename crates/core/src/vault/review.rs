//! review.
