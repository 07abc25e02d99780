//! Builds Cyclone DDS as bundled, or finds an installed libddsc, and compiles the shim against it.
//!
//! `MIDDLEMARK_CYCLONEDDS=system` takes the installed library. What is missing is named in one line with its remedy.

use std::path::PathBuf;
use std::process::{Command, Stdio};

const CHOICE: &str = "MIDDLEMARK_CYCLONEDDS";

/// Where the library is built, in the profile's folder, once for a build, a lint and a test: each set of features that cargo
/// unifies has an `OUT_DIR` of its own, and none of them is the library's.
const BUILT_IN: &str = "middlemark-worker-cyclonedds.build";

fn main() {
    println!("cargo::rerun-if-env-changed={CHOICE}");
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=../dds/shim");
    let library = match std::env::var(CHOICE).as_deref() {
        Err(_) | Ok("bundled") => bundled(),
        Ok("system") => installed(),
        Ok(other) => Err(format!("{CHOICE} is '{other}'; allowed: bundled, system")),
    };
    if let Err(missing) = library.and_then(|library| compile_shim(&library)) {
        println!("cargo::error={missing}");
    }
}

struct Library {
    include: Vec<PathBuf>,
    origin: String,
}

fn bundled() -> Result<Library, String> {
    if !runs("cmake") || !runs("cc") {
        return Err(
            "Cyclone DDS needs CMake and a C compiler to be built; install the packages cmake and build-essential"
                .into(),
        );
    }
    let openssl = found("openssl", "3", "OpenSSL", "libssl-dev")?;
    // Upstream's own default build type; the other switches leave out tools and plugins that no trial uses. The plugins of
    // DDS Security are part of the static library: it finds them by their names, and none of them is loaded.
    let mut build = cmake::Config::new(cyclonedds_src::source_dir());
    build.profile("RelWithDebInfo").out_dir(profile().join(BUILT_IN));
    for switch in [
        "BUILD_SHARED_LIBS",
        "BUILD_IDLC",
        "BUILD_DDSPERF",
        "BUILD_TESTING",
        "BUILD_EXAMPLES",
    ] {
        build.define(switch, "OFF");
    }
    for switch in ["ENABLE_ICEORYX", "ENABLE_LTO"] {
        build.define(switch, "OFF");
    }
    for switch in ["ENABLE_SSL", "ENABLE_SECURITY"] {
        build.define(switch, "ON");
    }
    build.define("CMAKE_INSTALL_LIBDIR", "lib");
    let installed = build.build();
    println!("cargo::rustc-link-search=native={}", installed.join("lib").display());
    println!("cargo::rustc-link-lib=static=ddsc");
    for library in &openssl.libs {
        println!("cargo::rustc-link-lib={library}"); // after whoever needs it
    }
    Ok(Library {
        include: vec![installed.join("include")],
        origin: format!(
            "bundled, linked statically (crate cyclonedds-src 1.0.2) with OpenSSL {}",
            openssl.version
        ),
    })
}

/// The profile's folder, three above `OUT_DIR`.
fn profile() -> PathBuf {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let folder = out.ancestors().nth(3);
    folder.expect("OUT_DIR lies within the profile's folder").to_owned()
}

fn installed() -> Result<Library, String> {
    let found = found("CycloneDDS", "0.10", "libddsc", "cyclonedds-dev")
        .map_err(|missing| format!("{CHOICE}=system: {missing}"))?;
    for library in &found.libs {
        println!("cargo::rustc-link-lib={library}");
    }
    Ok(Library {
        include: found.include_paths,
        origin: format!("installed library, version {} at build time", found.version),
    })
}

/// An installed library that is new enough; whoever asks links it.
fn found(name: &str, version: &str, title: &str, package: &str) -> Result<pkg_config::Library, String> {
    let mut search = pkg_config::Config::new();
    let library = search.atleast_version(version).cargo_metadata(false).probe(name);
    library
        .map_err(|_| format!("Cyclone DDS needs {title} of version {version} or newer; install the package {package}"))
}

fn compile_shim(library: &Library) -> Result<(), String> {
    println!("cargo::rustc-env=MIDDLEMARK_CYCLONEDDS_ORIGIN={}", library.origin);
    cc::Build::new()
        .file("shim/cyclone.c")
        .include("../dds/shim")
        .includes(&library.include)
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .try_compile("middlemark_cyclone")
        .map_err(|_| format!("the shim does not compile against Cyclone DDS, {}", library.origin))
}

fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
