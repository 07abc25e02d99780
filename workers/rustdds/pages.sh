set -e
cd /work/wt/family
mv target/wip/rustdds workers/rustdds
cp target/wip/rustdds.md docs/middlewares/rustdds.md
sed -i 's|^      - opendds: middlewares/opendds.md|&\n      - rustdds: middlewares/rustdds.md|' mkdocs.yml
sed -i 's|^\[opendds\](middlewares/opendds.md), |[opendds](middlewares/opendds.md), [rustdds](middlewares/rustdds.md), |' docs/index.md
sed -i 's|^| `opendds`, `vsomeip`|&|; s|`cyclonedds`, `opendds`, `vsomeip`|`cyclonedds`, `opendds`, `rustdds`, `vsomeip`|' docs/glossary.md
sed -i 's#^| \[vsomeip\](vsomeip.md) | COVESA vSomeIP | built with the worker |#| [rustdds](rustdds.md) | the crate `rustdds` | built with the worker; it needs Rust 1.88 |\n&#' docs/middlewares/index.md
sed -i 's|^Fast DDS, Cyclone DDS, OpenDDS, vSomeIP|Fast DDS, Cyclone DDS, OpenDDS, RustDDS, vSomeIP|' README.md
