//! A tree in a store of objects: each object appears as a whole, and the manifest is written after the rows.
//!
//! A store does not list folders quickly, so a note states the day of each recording.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::manifest::{Manifest, VERSION};
use crate::remote::{Objects, PrivateFolder};

/// Names of the layout in a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Name of the folder of days.
    pub(crate) root: &'static str,
    /// Name of the folder of notes.
    pub(crate) notes: &'static str,
    /// Name of the rows of a recording.
    pub(crate) part: &'static str,
    /// Name of the manifest of a recording.
    pub(crate) manifest: &'static str,
}

/// The tree below a URL.
#[derive(Debug)]
pub(crate) struct ObjectTree {
    objects: Objects,
    /// Folder of rows that are not complete yet.
    scratch: PrivateFolder,
    layout: Layout,
}

/// Day under which a recording is.
#[derive(Debug, Serialize, Deserialize)]
struct DayNote {
    date: String,
}

impl ObjectTree {
    /// Opens a tree, and writes an object, because only that shows the right to do so.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn open(
        objects: Objects,
        scratch: PrivateFolder,
        layout: Layout,
    ) -> Result<Self, Error> {
        let text = format!("{{\"layout\":\"{}\"}}\n", layout.root);
        objects.write(&format!("{}/layout.json", layout.notes), text.into_bytes())?;
        Ok(Self { objects, scratch, layout })
    }

    /// Returns the local folder for partial files.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    fn name(&self, day: &str, own: &Path, file: &str) -> String {
        format!("{}/date={day}/{}/{file}", self.layout.root, own.display())
    }

    fn note_name(&self, name: &Path) -> String {
        format!("{}/{}", self.layout.notes, name.display())
    }

    fn day_name(own: &Path) -> PathBuf {
        Path::new("days").join(own).with_extension("json")
    }

    /// Returns the manifest of a recording, and its day, if it and the object that it describes are complete.
    pub(crate) fn stored(
        &self,
        own: &Path,
        likely: &str,
    ) -> Result<Option<(String, Manifest)>, Error> {
        if let Some(manifest) = self.stored_on(likely, own)? {
            return Ok(Some((likely.to_owned(), manifest)));
        }
        let Some(day) = self.noted_day(own)?.filter(|day| day != likely) else { return Ok(None) };
        Ok(self.stored_on(&day, own)?.map(|manifest| (day, manifest)))
    }

    fn noted_day(&self, own: &Path) -> Result<Option<String>, Error> {
        let note = self.note(&Self::day_name(own))?;
        Ok(note.and_then(|text| Some(serde_json::from_slice::<DayNote>(&text).ok()?.date)))
    }

    fn stored_on(&self, day: &str, own: &Path) -> Result<Option<Manifest>, Error> {
        let text = self.objects.read(&self.name(day, own, self.layout.manifest))?;
        let manifest = text.and_then(|text| serde_json::from_slice::<Manifest>(&text).ok());
        let Some(manifest) = manifest.filter(|manifest| manifest.manifest == VERSION) else {
            return Ok(None);
        };
        let is_whole = manifest.part.is_none() || {
            let size = self.objects.size(&self.name(day, own, self.layout.part))?;
            size.is_some() && size == manifest.part_bytes
        };
        Ok(is_whole.then_some(manifest))
    }

    /// Uploads the rows of a recording. Returns their name below the prefix, with the size in bytes.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn add_part(
        &self,
        part: &Path,
        day: &str,
        own: &Path,
    ) -> Result<(String, u64), Error> {
        let name = self.name(day, own, self.layout.part);
        let bytes = self.objects.upload(&name, part)?;
        Ok((name, bytes))
    }

    /// Writes the manifest of a recording, then removes that of an earlier conversion under another day.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn add_manifest(&self, text: Vec<u8>, day: &str, own: &Path) -> Result<(), Error> {
        let earlier = self.noted_day(own)?;
        self.objects.write(&self.name(day, own, self.layout.manifest), text)?;
        if earlier.as_deref() == Some(day) {
            return Ok(());
        }
        let note = format!("{{\"date\":\"{day}\"}}\n");
        self.add_note(&Self::day_name(own), note.into_bytes())?;
        if let Some(earlier) = earlier {
            for file in [self.layout.manifest, self.layout.part] {
                self.objects.remove(&self.name(&earlier, own, file));
            }
        }
        Ok(())
    }

    /// Returns the contents of a note, if it exists.
    pub(crate) fn note(&self, name: &Path) -> Result<Option<Vec<u8>>, Error> {
        self.objects.read(&self.note_name(name))
    }

    /// Writes or replaces a note.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn add_note(&self, name: &Path, text: Vec<u8>) -> Result<(), Error> {
        self.objects.write(&self.note_name(name), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Remote;

    const LAYOUT: Layout = Layout { root: "v", notes: "n", part: "p", manifest: "m" };

    fn text(bytes: usize) -> Vec<u8> {
        let text = format!(
            r#"{{"manifest":2,"path":"x","recording_sha256":null,"bytes":null,"date":null,"opts":"","options":[],
            "tool":"","part":"p","part_bytes":{bytes},"status":"ok","message":"","attempts":1,"samples":0,
            "complete_share":0,"findings":[],"modules":[],"seconds":0}}"#
        );
        text.into_bytes()
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the rows of the test are written here")]
    fn a_recording_has_one_day() {
        let remote = Remote::default();
        let objects = Objects::in_memory(&remote, "s3://b/x");
        let tree = ObjectTree::open(objects, remote.folder().expect("a folder"), LAYOUT);
        let (tree, own) = (tree.expect("a tree"), Path::new("r/o"));
        let day = |likely: &str| tree.stored(own, likely).expect("a store").map(|(day, _)| day);
        assert_eq!(day("1"), None);
        let part = tree.scratch().join("part");
        std::fs::write(&part, b"rows").expect("a file");
        let added = tree.add_part(&part, "1", own).expect("a store");
        assert_eq!(added, ("v/date=1/r/o/p".to_owned(), 4));
        // Without a manifest, the rows do not count.
        assert_eq!(day("1"), None);
        tree.add_manifest(text(4), "1", own).expect("a store");
        assert_eq!((day("1"), day("2")), (Some("1".into()), Some("1".into())));
        tree.add_part(&part, "2", own).expect("a store");
        tree.add_manifest(text(4), "2", own).expect("a store");
        assert_eq!((day("1"), day("3")), (Some("2".into()), Some("2".into())));
        assert_eq!(tree.objects.size("v/date=1/r/o/p").expect("a store"), None);
        // Rows of another size are not those of the manifest.
        tree.add_manifest(text(5), "2", own).expect("a store");
        assert_eq!(day("2"), None);
    }
}
