//! Builds vSomeIP from the source that the crate `vsomeip-sys` bundles, then the shim, and links both.
//!
//! It ends with one line that names the remedy where a tool or Boost is missing, so that set-up can leave this worker out
//! with a reason. The library is built once for a profile, whichever features cargo unifies for a build, a lint or a test;
//! what the executable needs of it is laid into the folder `middlemark-worker-vsomeip.lib` beside the executable, which
//! finds it there wherever both are copied to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

/// What vSomeIP needs to be built, by Debian's names.
const DEBIAN_PACKAGES: &str = "build-essential cmake libboost-system-dev libboost-thread-dev libboost-filesystem-dev";

/// The base library and the plugins that it loads at run time.
const TARGETS: [&str; 4] = ["vsomeip3", "vsomeip3-cfg", "vsomeip3-sd", "vsomeip3-e2e"];

/// Beside the executable: by the contract, everything in `<executable>.lib` belongs to it.
const LIBRARIES: &str = "middlemark-worker-vsomeip.lib";

/// Where the library is built, in the profile's folder, by version: each set of features has an `OUT_DIR` of its own, and
/// none of them is the library's.
const BUILT_IN: &str = "middlemark-worker-vsomeip.build";

/// Why vSomeIP can't be built, in one line.
type Reason = String;

fn main() -> ExitCode {
    for input in ["build.rs", "Cargo.toml", "shim"] {
        println!("cargo::rerun-if-changed={input}");
    }
    match build(Path::new(&variable("OUT_DIR"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            println!("cargo::error=vSomeIP can't be built: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn build(out: &Path) -> Result<(), Reason> {
    for tool in ["cmake", "c++", "make", "patch"] {
        run(Command::new(tool).arg("--version"))?;
    }
    let bundled = bundled_source()?;
    let place = profile(out).join(BUILT_IN).join(&bundled.version);
    let source = place.join("source");
    unpack(&bundled.folder, &source)?;
    let libraries = build_library(&source, &place)?;
    build_shim(&source)?;
    lay_beside(&libraries, profile(out))?;
    println!("cargo::rustc-env=VSOMEIP_VERSION={}", built_version(&libraries)?);
    link(&libraries);
    Ok(())
}

/// The crate `vsomeip-sys`, where Cargo keeps it.
struct Bundled {
    folder: PathBuf,
    version: String,
}

/// Asks Cargo, which fetches it now where it has not been yet.
fn bundled_source() -> Result<Bundled, Reason> {
    let manifest = format!("{}/Cargo.toml", variable("CARGO_MANIFEST_DIR"));
    let metadata = run(Command::new(variable("CARGO")).args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--manifest-path",
        &manifest,
    ]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut named = packages.filter(|package| package["name"] == "vsomeip-sys");
    let found = named
        .next()
        .and_then(|package| Some((package["manifest_path"].as_str()?, package["version"].as_str()?)));
    let (manifest, version) = found.ok_or("cargo metadata does not list vsomeip-sys")?;
    Ok(Bundled {
        folder: Path::new(manifest).with_file_name(""),
        version: version.to_owned(),
    })
}

/// Copies the source, as the registry's copy is read-only and vSomeIP writes into its own, and takes its tests out, which
/// would fetch a test framework from the network.
fn unpack(bundled: &Path, source: &Path) -> Result<(), Reason> {
    let complete = source.join(".unpacked");
    if complete.exists() {
        return Ok(());
    }
    if source.exists() {
        fs::remove_dir_all(source).map_err(|error| format!("{}: {error}", source.display()))?;
    }
    copy(&bundled.join("vsomeip"), source).map_err(|error| format!("copying the source: {error}"))?;
    let patch = bundled.join("patches/disable_tests.patch");
    run(Command::new("patch")
        .args(["--silent", "-p1", "-d"])
        .arg(source)
        .arg("-i")
        .arg(patch))?;
    fs::write(complete, "").map_err(|error| format!("{}: {error}", source.display()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// Gives the folder of the built libraries; where they are built already it is a matter of a moment.
fn build_library(source: &Path, place: &Path) -> Result<PathBuf, Reason> {
    let build = place.join("build");
    let libraries = place.join("lib");
    let configure = run(Command::new("cmake")
        .arg("-S")
        .arg(source)
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={}", libraries.display()))
        .args([
            "-DCMAKE_BUILD_TYPE=Release",
            // As vSomeIP builds itself (RelWithDebInfo), without the debug information; -O3 trips over its own -Werror.
            "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG -g0 -Wno-error",
            // The plugins are found beside the base library.
            "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
            "-DCMAKE_INSTALL_RPATH=$ORIGIN",
            // So that a trial's sockets lie in the trial's own folder: vSomeIP joins this path and the network's name.
            "-DBASE_PATH=/",
            // Neither systemd nor DLT, whatever this machine has, so that the library is the same everywhere.
            "-DPKG_CONFIG_EXECUTABLE=/bin/false",
            "-DDISABLE_DLT=1",
        ]));
    configure.map_err(|reason| {
        if reason.contains("Boost") {
            format!("Boost is missing; install the Debian packages {DEBIAN_PACKAGES}")
        } else {
            reason
        }
    })?;
    run(Command::new("cmake")
        .arg("--build")
        .arg(&build)
        .args(["--parallel", &variable("NUM_JOBS"), "--target"])
        .args(TARGETS))?;
    Ok(libraries)
}

/// The version of what was built, which the library's file has in its name, but not the link that it is loaded by; vSomeIP
/// has no call that tells it.
fn built_version(libraries: &Path) -> Result<String, Reason> {
    const LOADED: &str = "libvsomeip3.so.";
    let link = libraries.join(format!("{LOADED}3"));
    let file = fs::canonicalize(&link).map_err(|error| format!("{}: {error}", link.display()))?;
    let version = file.file_name().and_then(|name| name.to_str()?.strip_prefix(LOADED));
    version
        .filter(|version| version.contains('.'))
        .map(str::to_owned)
        .ok_or_else(|| format!("{} does not tell its version", file.display()))
}

fn build_shim(source: &Path) -> Result<(), Reason> {
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/shim.cpp")
        .flag("-isystem")
        .flag(source.join("interface"))
        .warnings_into_errors(true)
        .try_compile("middlemark_vsomeip_shim")
        .map_err(|error| one_line(&error.to_string()))
}

/// The profile's folder, where the executable will lie: three above `OUT_DIR`.
fn profile(out: &Path) -> &Path {
    out.ancestors()
        .nth(3)
        .expect("OUT_DIR lies within the profile's folder")
}

/// Lays the libraries beside the executable: the base library, its plugins, and the Boost that they are linked with, so that
/// another host needs none. A library that is in use is replaced, not overwritten.
fn lay_beside(libraries: &Path, profile: &Path) -> Result<(), Reason> {
    let folder = profile.join(LIBRARIES);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let built = TARGETS.map(|target| libraries.join(format!("lib{target}.so.3")));
    let boost = run(Command::new("ldd").args(&built))?;
    let boost = boost
        .lines()
        .filter_map(|line| line.split_once("=> "))
        .filter_map(|(name, rest)| {
            let path = rest.split_whitespace().next()?;
            name.trim().starts_with("libboost_").then(|| PathBuf::from(path))
        });
    for library in built.iter().cloned().chain(boost) {
        let target = folder.join(library.file_name().expect("a library's path ends in its name"));
        let fresh = target.with_extension("new");
        fs::copy(&library, &fresh)
            .and_then(|_| fs::rename(&fresh, &target))
            .map_err(|error| format!("copying {} to {}: {error}", library.display(), target.display()))?;
    }
    Ok(())
}

/// A test's executable lies one folder below the worker's.
fn link(libraries: &Path) {
    for folder in ["$ORIGIN", "$ORIGIN/.."] {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}/{LIBRARIES}");
    }
    println!("cargo::rustc-link-search=native={}", libraries.display());
    println!("cargo::rustc-link-lib=dylib=vsomeip3");
}

/// Runs a command to its end and gives what it printed.
fn run(command: &mut Command) -> Result<String, Reason> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error}; install the Debian packages {DEBIAN_PACKAGES}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    eprintln!("{}{said}", String::from_utf8_lossy(&output.stdout));
    Err(one_line(&format!("{program} failed: {said}")))
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(400)
        .collect()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
