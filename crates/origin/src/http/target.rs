//! What a request's path names.

use timeline::name::{Object, ProgrammePath, Token};

use super::reply::Reply;

/// A resource of a programme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: ProgrammePath,
    pub(crate) resource: Resource,
}

/// What lives below a programme's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// `programme.json`
    Programme,
    /// `end`
    End,
    /// `status.json`
    Status,
    /// `{flavour}/master.m3u8`
    Multivariant(usize),
    /// `{flavour}/{track}.m3u8`; the flavour is its place in the table.
    Playlist(usize, Token),
    /// An init segment, part or segment.
    Object(Object),
}

impl Target {
    /// From a path. `None` for the two that ask whether the process lives.
    pub(crate) fn parse(path: &str) -> Result<Option<Target>, Reply> {
        if matches!(path, "/livez" | "/readyz") {
            return Ok(None);
        }
        let absent = |why: String| Reply::absent(why, Some(crate::limits::ABSENT_LIFETIME));
        let mut pieces = path.strip_prefix('/').unwrap_or_default().splitn(4, '/');
        let (Some(m), Some(run), Some(programme), Some(rest)) =
            (pieces.next(), pieces.next(), pieces.next(), pieces.next())
        else {
            return Err(absent("paths here begin with /{match}/{run}/{programme}/".to_owned()));
        };
        let token = |s: &str| s.parse::<Token>().map_err(|e| absent(e.to_string()));
        let path = ProgrammePath { r#match: token(m)?, run: token(run)?, programme: token(programme)? };
        let resource = match rest {
            "programme.json" => Resource::Programme,
            "end" => Resource::End,
            "status.json" => Resource::Status,
            _ => match rest.split_once('/') {
                Some((flavour, file)) if file.ends_with(".m3u8") => {
                    let Some(flavour) = hls::flavour::FLAVOURS.iter().position(|f| f.name == flavour) else {
                        return Err(absent(format!("there is no flavour '{}'", short(flavour))));
                    };
                    match file.trim_end_matches(".m3u8") {
                        "master" => Resource::Multivariant(flavour),
                        track => Resource::Playlist(flavour, token(track)?),
                    }
                }
                _ => Resource::Object(rest.parse().map_err(|e: timeline::Error| absent(e.to_string()))?),
            },
        };
        Ok(Some(Target { path, resource }))
    }
}

fn short(s: &str) -> String {
    s.chars().take(timeline::name::TOKEN_MAX).collect()
}
