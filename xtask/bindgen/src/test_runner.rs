//! wasm-bindgen's own test runner, built from this workspace's Cargo.lock so that its version always fits.

fn main() -> anyhow::Result<()> {
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os())
}
