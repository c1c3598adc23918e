//! The machine: files, the clock, the environment, SQLite, HTTP and background processes.
//!
//! - [`disk`]: atomic writes, locks and file sizes
//! - [`home`]: the folders and files of Rekindle
//! - [`environment`]: environment variables and the home folder
//! - [`clock`]: the current time and time zone
//! - [`random`]: random bytes and ids
//! - [`mmap`]: memory-mapped files
//! - [`db`]: the SQLite database and its migrations
//! - `http`: HTTP requests with limits and deadlines
//! - [`background`]: processes that outlive a command
//! - [`editor`]: text in the person's editor
//! - [`page_server`]: the one running `rekindle web`

pub mod background;
pub mod clock;
pub mod db;
pub mod disk;
pub mod editor;
pub mod environment;
pub mod home;
pub(crate) mod http;
pub mod mmap;
pub mod page_server;
pub mod random;
