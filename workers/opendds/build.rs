//! Finds the user's OpenDDS by `DDS_ROOT`, `ACE_ROOT` and `TAO_ROOT`, runs its IDL compilers, and compiles the shim.
//!
//! It builds no OpenDDS. What is missing is named in one line with the variable to set.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARIES: [&str; 8] = [
    "OpenDDS_Rtps_Udp",
    "OpenDDS_Rtps",
    "OpenDDS_Tcp",
    "OpenDDS_Dcps",
    "TAO_PortableServer",
    "TAO_AnyTypeCode",
    "TAO",
    "ACE",
];

fn main() {
    for variable in ["DDS_ROOT", "ACE_ROOT", "TAO_ROOT"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=../dds/shim");
    if let Err(missing) = Installation::find().and_then(|installation| build(&installation)) {
        println!("cargo::error={missing}");
    }
}

/// A build of OpenDDS with the ACE and TAO that it was built with.
struct Installation {
    dds: PathBuf,
    ace: PathBuf,
    tao: PathBuf,
}

impl Installation {
    fn find() -> Result<Installation, String> {
        let dds = root("DDS_ROOT").ok_or(
            "OpenDDS is not installed: DDS_ROOT is not set; set DDS_ROOT, ACE_ROOT and TAO_ROOT to a build of OpenDDS, as its \
             setenv.sh does",
        )?;
        let ace = root("ACE_ROOT").ok_or("DDS_ROOT is set but ACE_ROOT is not; OpenDDS's setenv.sh sets both")?;
        let tao = root("TAO_ROOT").unwrap_or_else(|| ace.join("TAO"));
        let installation = Installation { dds, ace, tao };
        let needed = [
            ("DDS_ROOT", installation.dds.join("dds/Version.h")),
            ("DDS_ROOT", installation.opendds_idl()),
            ("DDS_ROOT", installation.dds.join("lib/libOpenDDS_Rtps_Udp.so")),
            ("ACE_ROOT", installation.tao_idl()),
            ("ACE_ROOT", installation.ace.join("lib/libACE.so")),
            ("TAO_ROOT", installation.tao.join("tao/Exception.h")),
        ];
        match needed.iter().find(|(_, file)| !file.exists()) {
            None => Ok(installation),
            Some((variable, file)) => Err(format!(
                "{variable} names no complete build of OpenDDS: {} is missing",
                file.display()
            )),
        }
    }

    fn opendds_idl(&self) -> PathBuf {
        self.dds.join("bin/opendds_idl")
    }

    fn tao_idl(&self) -> PathBuf {
        self.ace.join("bin/tao_idl")
    }

    fn folders(&self) -> [PathBuf; 2] {
        [self.dds.join("lib"), self.ace.join("lib")]
    }

    fn version(&self) -> Result<String, String> {
        let file = self.dds.join("dds/Version.h");
        let text = fs::read_to_string(&file).map_err(|error| format!("reading {}: {error}", file.display()))?;
        let defined = text
            .lines()
            .find_map(|line| line.split_once("DDS_VERSION \"")?.1.split('"').next());
        defined
            .map(str::to_owned)
            .ok_or_else(|| format!("{} names no version", file.display()))
    }

    /// The C++ standard that it was built by, where its configuration names one: classes differ between standards.
    fn standard(&self) -> Option<String> {
        let macros = self.ace.join("include/makeinclude/platform_macros.GNU");
        let text = fs::read_to_string(macros).ok()?;
        let named = text.split_whitespace().find_map(|word| word.strip_prefix("-std="));
        named.map(str::to_owned)
    }
}

fn root(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn build(installation: &Installation) -> Result<(), String> {
    let version = installation.version()?;
    println!("cargo::rustc-env=MIDDLEMARK_OPENDDS_ORIGIN=build in DDS_ROOT, version {version} at build time");
    let generated = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("idl");
    generate(installation, &generated)?;
    compile(installation, &generated)
        .map_err(|why| format!("the shim does not compile against OpenDDS {version}: {why}"))?;
    link(installation);
    Ok(())
}

/// The type's code by the installation's own compilers: of the type itself, and of its readers and writers.
fn generate(installation: &Installation, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy("shim/Message.idl", folder.join("Message.idl")))
        .map_err(|error| format!("copying shim/Message.idl: {error}"))?;
    let (tao_idl, opendds_idl) = (installation.tao_idl(), installation.opendds_idl());
    run(installation, folder, &tao_idl, &["-SS", "-Sa", "-St", "Message.idl"])?;
    run(installation, folder, &opendds_idl, &["Message.idl"])?;
    run(
        installation,
        folder,
        &tao_idl,
        &["-SS", "-Sa", "-St", "MessageTypeSupport.idl"],
    )
}

fn run(installation: &Installation, folder: &Path, program: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .arg(format!("-I{}", installation.dds.display()))
        .arg(format!("-I{}", installation.tao.display()))
        .args(arguments)
        .current_dir(folder)
        .env("DDS_ROOT", &installation.dds)
        .env("ACE_ROOT", &installation.ace)
        .env("TAO_ROOT", &installation.tao)
        .env("LD_LIBRARY_PATH", search_path(installation))
        .output()
        .map_err(|error| format!("{} could not be started: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("it said nothing");
    Err(format!("{} {} failed: {last}", program.display(), arguments.join(" ")))
}

fn search_path(installation: &Installation) -> std::ffi::OsString {
    let known = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = installation.folders().into_iter().chain(env::split_paths(&known));
    env::join_paths(folders).expect("folders of a search path have no colon")
}

fn compile(installation: &Installation, generated: &Path) -> Result<(), String> {
    let mut shim = cc::Build::new();
    shim.cpp(true).include("shim").include("../dds/shim").include(generated);
    // Its headers are not ours to mend.
    for folder in [&installation.dds, &installation.ace, &installation.tao] {
        shim.flag("-isystem").flag(folder);
    }
    if let Some(standard) = installation.standard() {
        shim.std(&standard);
    }
    let types = ["MessageC.cpp", "MessageTypeSupportC.cpp", "MessageTypeSupportImpl.cpp"];
    shim.clone()
        .files(types.map(|file| generated.join(file)))
        .warnings(false)
        .cargo_warnings(false)
        .try_compile("middlemark_opendds_types")
        .map_err(|error| error.to_string())?;
    shim.file("shim/opendds.cpp")
        .warnings(true)
        .extra_warnings(true)
        .try_compile("middlemark_opendds")
        .map_err(|error| error.to_string())
}

fn link(installation: &Installation) {
    // Of the executable, and of the libraries that it loads: those name neither each other's folder nor their own.
    println!("cargo::rustc-link-arg=-Wl,--disable-new-dtags");
    for folder in installation.folders() {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
    for library in LIBRARIES {
        println!("cargo::rustc-link-lib={library}");
    }
}
