//! `/admin/arrival/catalog`: documents one by one, and all as one file; and the history of all changes.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::keep::Edit;
use super::limits::FILE_BYTES_MAX;
use super::{Fault, File, Kind};
use crate::Error;
use crate::admin::operator;
use crate::door::Door;
use crate::play::Problem;

/// Changes that are listed unless asked for otherwise.
const CHANGES: usize = 100;

pub(crate) fn router(door: Arc<Door>) -> Router {
    let file = get(export).put(import).layer(DefaultBodyLimit::max(FILE_BYTES_MAX));
    Router::new()
        .route("/admin/arrival/catalog", file)
        .route("/admin/arrival/catalog/{kind}", get(list))
        .route("/admin/arrival/catalog/{kind}/{id}", get(read).put(write).delete(remove))
        .route("/admin/arrival/history", get(history))
        .with_state(door)
}

fn kind(name: &str) -> Result<Kind, Problem> {
    Kind::of(name).ok_or_else(|| {
        let all: Vec<_> = Kind::ALL.into_iter().map(Kind::name).collect();
        let detail = format!("There is no such kind of document; there are {}.", all.join(", "));
        Problem::plain(StatusCode::NOT_FOUND, "No such kind", &detail)
    })
}

/// As it stands in the store, and not in a copy that may be a second old.
async fn export(State(door): State<Arc<Door>>) -> Result<Response, Problem> {
    door.keeper.refresh().await?;
    let name = [(header::CONTENT_DISPOSITION, "attachment; filename=\"catalog.json\"")];
    Ok((name, Json(File::of(&door.keeper.copy().catalog))).into_response())
}

#[derive(Deserialize)]
struct How {
    /// Take away what the file does not have.
    #[serde(default)]
    replace: bool,
    /// Only say what would be done.
    #[serde(default)]
    dry: bool,
}

async fn import(
    State(door): State<Arc<Door>>,
    Query(how): Query<How>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let file = File::read(&body).map_err(Error::from)?;
    door.keeper.refresh().await?;
    let catalog = door.keeper.copy().catalog.clone();
    let edits = file.edits(&catalog, how.replace).map_err(Error::from)?;
    let put = edits.iter().filter(|edit| edit.document.is_some()).count();
    let answer = json!({ "put": put, "removed": edits.len() - put });
    if how.dry {
        super::keep::applied(&catalog, &edits)?.check(&catalog, |_, _| true).map_err(Error::from)?;
    } else {
        door.keeper.edit(&operator(&headers), edits, crate::now_ms()).await?;
    }
    Ok(Json(answer))
}

async fn list(State(door): State<Arc<Door>>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    let kind = kind(&name)?;
    door.keeper.refresh().await?;
    let documents = door.keeper.copy().catalog.documents(kind).into_iter().map(|(_, document)| document);
    Ok(Json(documents.collect()))
}

async fn read(
    State(door): State<Arc<Door>>,
    Path((name, id)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let kind = kind(&name)?;
    door.keeper.refresh().await?;
    let found = door.keeper.copy().catalog.documents(kind).into_iter().find(|(known, _)| *known == id);
    let found = found.ok_or(Error::NoDocument { kind: kind.name(), id })?;
    Ok(Json(found.1))
}

async fn write(
    State(door): State<Arc<Door>>,
    Path((name, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let kind = kind(&name)?;
    let document =
        std::str::from_utf8(&body).map_err(|_| Error::from(Fault::new(kind, &id, "it is no text")))?;
    let edit = Edit { kind, id: id.clone(), document: Some(document.to_owned()) };
    door.keeper.edit(&operator(&headers), vec![edit], crate::now_ms()).await?;
    read(State(door), Path((name, id))).await
}

async fn remove(
    State(door): State<Arc<Door>>,
    Path((name, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let edit = Edit { kind: kind(&name)?, id, document: None };
    door.keeper.edit(&operator(&headers), vec![edit], crate::now_ms()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Page {
    before_ms: Option<i64>,
    max: Option<usize>,
}

async fn history(State(door): State<Arc<Door>>, Query(page): Query<Page>) -> Result<Json<Value>, Problem> {
    let before_ms = page.before_ms.unwrap_or(i64::MAX);
    let changes =
        door.entitlements.changes(before_ms, page.max.unwrap_or(CHANGES)).await.map_err(Error::from)?;
    // What stood there is JSON, and is given as such.
    let document = |text: Option<String>| text.map(|t| serde_json::from_str(&t).unwrap_or(Value::String(t)));
    let all = changes.into_iter().map(|change| {
        json!({
            "id": change.id, "at_ms": change.at_ms, "who": change.who, "what": change.what,
            "before": document(change.before), "after": document(change.after),
        })
    });
    Ok(Json(all.collect()))
}
