//! DDS Security as Cyclone DDS is told of it: properties of the participant, which hold the texts themselves, so that no
//! key is ever in a file.

use middlemark_contract::SecretFiles;
use middlemark_dds::security::{self, Properties};
use middlemark_runtime::MiddlewareError;

/// Each plugin: its property, its library, and what begins and ends it. Linked statically they are found by these names.
const PLUGINS: [(&str, &str, &str); 3] = [
    ("auth", "dds_security_auth", "authentication"),
    ("access", "dds_security_ac", "access_control"),
    ("crypto", "dds_security_crypto", "crypto"),
];

/// Each text by its property.
const TEXTS: [(&str, &str); 6] = [
    ("dds.sec.auth.identity_ca", security::IDENTITY_AUTHORITY),
    ("dds.sec.auth.identity_certificate", security::CERTIFICATE),
    ("dds.sec.auth.private_key", security::KEY),
    ("dds.sec.access.permissions_ca", security::PERMISSIONS_AUTHORITY),
    ("dds.sec.access.governance", security::GOVERNANCE),
    ("dds.sec.access.permissions", security::PERMISSIONS),
];

/// All of them, for an application with these credentials.
pub(crate) fn properties(files: &SecretFiles) -> Result<Properties, MiddlewareError> {
    let plugins = PLUGINS.iter().flat_map(|(plugin, library, name)| {
        let property = |what| format!("dds.sec.{plugin}.library.{what}");
        [
            (property("path"), (*library).to_owned()),
            (property("init"), format!("init_{name}")),
            (property("finalize"), format!("finalize_{name}")),
        ]
    });
    let texts = TEXTS.map(|(property, file)| Ok((property.to_owned(), format!("data:,{}", files.text(file)?))));
    let texts = texts.into_iter().collect::<Result<Vec<_>, String>>()?;
    Ok(Properties::of(plugins.chain(texts))?)
}
