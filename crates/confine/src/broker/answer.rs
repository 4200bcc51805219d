//! Answers of the broker.

use std::fs::File;
use std::path::Path;

use host::{FileOwner, Host, HostError, Origin};

use super::request::{Answer, Failure, HostReply, HostRequest, Query};
use super::rules::may_read;

/// Answers a request with the files of a machine. The descriptor belongs to the reply.
///
/// Metadata of all paths are returned. Content is limited to files with code, to what describes it, and to the
/// kernel's descriptions of itself and of processes.
#[must_use]
pub fn answer(host: &dyn Host, request: &HostRequest) -> (HostReply, Option<File>) {
    let (path, origin) = (Path::new(&request.path), request.origin());
    let answered = match &request.query {
        Query::File => match opened(host, path, origin) {
            Ok((file, owner)) => return (HostReply(Answer::File(owner)), Some(file)),
            Err(error) => Err(error),
        },
        Query::Stat => host.stat(path, origin).map(Answer::Stat),
        Query::RecordedFile => host.recorded_file(path, origin).map(Answer::RecordedFile),
        Query::Owner => host.owner(path, origin).map(Answer::Owner),
        Query::List => host.list(path, origin).map(Answer::Entries),
        Query::Distrust => Ok(Answer::Distrust(host.distrust(path).map(Into::into))),
    };
    let answer = answered.unwrap_or_else(|error| Answer::Failed(Failure::of(&error)));
    (HostReply(answer), None)
}

/// Opens a file that a confined process may read.
fn opened(
    host: &dyn Host,
    path: &Path,
    origin: Origin<'_>,
) -> Result<(File, FileOwner), HostError> {
    let file = host.descriptor(path, origin)?;
    let io = |source| HostError::Io { path: path.to_owned(), source };
    if !may_read(&file).map_err(io)? {
        return Err(HostError::Refused { path: path.to_owned() });
    }
    let owner = FileOwner::of(&file.metadata().map_err(io)?);
    Ok((file, owner))
}
