//! Properties of a participant, which the plugins of DDS Security take what they need from, as a shim has them.

use std::ffi::{CString, NulError, c_char};

/// `mm_property`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ShimProperty {
    name: *const c_char,
    value: *const c_char,
}

/// Names and values. They may hold a private key, so that nothing shows them.
#[derive(Default)]
pub struct Properties(Vec<(CString, CString)>);

impl Properties {
    /// These properties, by name.
    ///
    /// # Errors
    /// One has a zero byte.
    pub fn of(properties: impl IntoIterator<Item = (String, String)>) -> Result<Properties, NulError> {
        let properties = properties.into_iter();
        let texts = properties.map(|(name, value)| Ok((CString::new(name)?, CString::new(value)?)));
        texts.collect::<Result<_, _>>().map(Properties)
    }

    /// Them as the shim takes them, for as long as `self` lives.
    #[must_use]
    pub fn as_shim(&self) -> Vec<ShimProperty> {
        let shim = |(name, value): &(CString, CString)| ShimProperty {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        self.0.iter().map(shim).collect()
    }

    /// Whether a participant has each of them; one that was made with some the library has made with its plugins, and with
    /// a wrong one it makes none.
    pub fn are_all(&self, has: impl Fn(*const ShimProperty) -> bool) -> bool {
        self.as_shim().iter().all(|property| has(property))
    }
}
