//! Lets Lua modules that were compiled from C find the interpreter in the binary.
//!
//! A script for wrk may `require` such a module (`cjson` is the common one). It is a shared library whose calls into Lua are resolved
//! when it is loaded, by what is already there; so the interpreter's own functions have to be among the binary's dynamic
//! symbols, as they are among wrk's. Exporting everything (`-rdynamic`) would do too, and make every start slower.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // A static binary cannot load anything.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        for names in ["lua_*", "luaL_*"] {
            println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={names}");
        }
    }
}
