//! A shim for the tests of this crate, which the linker finds in place of a worker's; and what its results become.

use super::*;
use crate::reader::tests::Shim;

#[unsafe(no_mangle)]
extern "C" fn mm_library() -> *const c_char {
    c"the shim".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn mm_version() -> *const c_char {
    c"1.2.3".as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn mm_explain(code: i32) -> *const c_char {
    match code {
        -1 => c"code 1".as_ptr(),
        _ => c"code 2".as_ptr(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn mm_wait(reader: &ShimReader) -> i32 {
    told(reader).wait()
}

#[unsafe(no_mangle)]
extern "C" fn mm_take(_: &ShimReader) -> i32 {
    -1
}

#[unsafe(no_mangle)]
extern "C" fn mm_stop(reader: &ShimReader) -> i32 {
    told(reader).stop()
}

#[unsafe(no_mangle)]
extern "C" fn mm_reader_failure(_: &ShimReader) -> i32 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn mm_reader_close(reader: &ShimReader) -> i32 {
    told(reader).close()
}

/// What the tests of readers open is one of these.
fn told(reader: *const ShimReader) -> &'static Shim {
    // SAFETY: see above; it is never freed.
    unsafe { &*reader.cast() }
}

#[cfg(feature = "wait_set")]
mod wait_sets {
    use crate::reader::wait_set::tests::ShimSet;
    use crate::shim::{ShimReader, ShimWaitSet};

    #[unsafe(no_mangle)]
    extern "C" fn mm_waitset_attach(set: &ShimWaitSet, reader: *mut ShimReader) -> i32 {
        told(set).attach(reader)
    }

    #[unsafe(no_mangle)]
    extern "C" fn mm_waitset_wait(set: &ShimWaitSet, ready: *mut *mut ShimReader, most: usize) -> i32 {
        // SAFETY: so many can be written.
        told(set).wait(unsafe { std::slice::from_raw_parts_mut(ready, most) })
    }

    #[unsafe(no_mangle)]
    extern "C" fn mm_waitset_stop(set: &ShimWaitSet) -> i32 {
        told(set).stop()
    }

    #[unsafe(no_mangle)]
    extern "C" fn mm_waitset_close(set: &ShimWaitSet) -> i32 {
        told(set).close()
    }

    /// What the tests of wait sets open is one of these.
    fn told(set: *const ShimWaitSet) -> &'static ShimSet {
        // SAFETY: see above; it is never freed.
        unsafe { &*set.cast() }
    }
}

#[test]
fn a_failed_call_says_whose_it_is_what_was_done_and_why() {
    assert_eq!(checked(3, "count").unwrap(), 3);
    let error = checked(-1, "count").unwrap_err();
    assert_eq!(error.to_string(), "the shim could not count: code 1 (-1)");
}

#[test]
fn what_does_not_open_tells_its_own_reason() {
    let error = opened::<u8>("open", |_, reason| {
        // SAFETY: a reason that can be written.
        unsafe { (&mut (*reason).text)[..2].copy_from_slice(&b"no".map(|byte| byte as c_char)) };
        -1
    });
    assert_eq!(error.unwrap_err().to_string(), "the shim could not open: no");
}

#[test]
fn policies_that_cannot_be_read_back_are_told_as_such() {
    let read = |code| {
        let write = |policies: *mut i32| {
            // SAFETY: policies that can be written.
            unsafe { *policies = 7 };
            code
        };
        read_back(write, i32::to_string)
    };
    assert_eq!(
        [read(0), read(-2)],
        ["7", "the shim could not read policies back: code 2 (-2)"]
    );
}
