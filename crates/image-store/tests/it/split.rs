//! Files of split units: a program may state very many.

use image_store::ImageStore;
use module_map::Timeline;

use crate::support::{code, machine};

/// The tree of split files is shallow regardless of their names, so lookup and drop need little stack.
/// After too many missing files, the search stops.
#[test]
fn files_of_split_units_are_many() {
    const SHT_PROGBITS: u32 = 1;
    let elf = synth::ElfBuilder::x86_64();
    let mut split = elf.clone();
    split.sections.push(synth::Section::new(".debug_info.dwo", SHT_PROGBITS, vec![0; 4]));
    let (elf, split) = (elf.build(), split.build());
    let names = ["/src/first.dwo", "/src/late.dwo"];
    let (_, options) = machine(&[("/bin/app", &elf), (names[0], &split), (names[1], &split)]);
    let look = move || {
        let store = ImageStore::new(options);
        let mut timeline = Timeline::new();
        timeline.map(&code(1, 0x1000, 0x1000, 0, "/bin/app"));
        let file = store.image(&timeline.modules()[0]).expect("the program");
        let is_there = |name: &str| file.split(&store, b"/src", name.as_bytes()).is_some();
        let mut found = vec![is_there("first.dwo")];
        found.extend((0..100_000).map(|number| is_there(&format!("{number}.dwo"))));
        found.extend([is_there("late.dwo"), is_there("first.dwo")]);
        let found = found.iter().enumerate().filter(|found| *found.1).map(|found| found.0);
        found.collect::<Vec<_>>()
    };
    let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(look);
    assert_eq!(thread.expect("a thread").join().expect("little stack"), [0, 100_002]);
}
