//! The page is embedded when this crate is compiled: a rebuilt page means a rebuilt crate.

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
    println!("cargo:rerun-if-changed=build.rs");
}
