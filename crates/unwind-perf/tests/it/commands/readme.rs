//! Check that the first command of README.md works as documented.

use crate::support::cases::root;
use crate::support::run::run;

#[test]
fn the_first_command_works_as_it_stands() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let (_, block) = readme.split_once("```sh\n").expect("a block of commands");
    let (block, _) = block.split_once("```").expect("the end of the block");
    let commands: Vec<&str> = block.lines().collect();
    let [main, tests] = commands.as_slice() else { panic!("two commands, not {commands:?}") };
    assert_eq!(*tests, "cargo test --workspace");
    let (arguments, file) = main
        .strip_prefix("cargo run --release -- ")
        .and_then(|rest| rest.split_once(" > "))
        .expect("cargo run, arguments, a file");
    assert_eq!(file, "stacks.json");
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let ran = run(root(), &arguments).expect_status(0);
    let json = ran.json();
    assert_eq!(json["meta"]["schema"], "unwind-perf-stacks");
    // The README shows the summary of this run.
    assert!(readme.contains(&ran.stderr), "README.md does not show\n{}", ran.stderr);
}
