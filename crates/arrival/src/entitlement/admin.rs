//! `/admin/arrival/purchases`: what accounts bought.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use store::{Change, PAGE_MAX, Purchase};

use super::Held;
use crate::Error;
use crate::admin::operator;
use crate::door::Door;
use crate::play::Problem;

pub(crate) fn router(door: Arc<Door>) -> Router {
    let purchases = get(list).post(put).layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX));
    Router::new().route("/admin/arrival/purchases", purchases).with_state(door)
}

/// The longest body, in bytes: a page of purchases with some 250 each.
const BODY_BYTES_MAX: usize = 2 << 20;

/// A purchase, as it is written and listed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bought {
    /// One is made if there is none. The same again replaces it, so that a refund is a purchase that has ended.
    #[serde(default = "crate::fresh_id")]
    id: String,
    account: String,
    product: String,
    from_ms: i64,
    until_ms: i64,
}

#[derive(Deserialize)]
struct Whose {
    account: String,
    /// UTC, milliseconds: those that are not over at that instant. None: now.
    at_ms: Option<i64>,
}

async fn list(
    State(door): State<Arc<Door>>,
    Query(whose): Query<Whose>,
) -> Result<Json<Vec<Bought>>, Problem> {
    let at_ms = whose.at_ms.unwrap_or_else(crate::now_ms);
    let held = door.entitlements.held(&[whose.account], at_ms).await.map_err(Error::from)?;
    let bought = |p: Purchase| Bought {
        id: p.id,
        account: p.account,
        product: p.product,
        from_ms: p.from_ms,
        until_ms: p.until_ms,
    };
    Ok(Json(held.into_iter().map(bought).collect()))
}

/// Takes one, or a list.
async fn put(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Vec<Bought>>, Problem> {
    let wrong = |why: String| Problem::wrong(format!("the purchases are not taken: {why}"));
    let bought: Vec<Bought> = match body.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))?,
        _ => vec![crate::object(&body).map_err(wrong)?],
    };
    if bought.len() > PAGE_MAX {
        return Err(wrong(format!("there are {}, more than {PAGE_MAX}; send some at a time", bought.len())));
    }
    let copy = door.keeper.copy();
    let now_ms = crate::now_ms();
    let mut purchases = Vec::with_capacity(bought.len());
    for one in &bought {
        if !copy.catalog.products.contains_key(&one.product) {
            let product: String = one.product.chars().take(64).collect();
            return Err(wrong(format!("there is no product '{product}'")));
        }
        if one.id.is_empty() || one.account.is_empty() || one.from_ms < 0 || one.until_ms < one.from_ms {
            return Err(wrong(
                "each has an account, and from_ms before until_ms, in UTC milliseconds".into(),
            ));
        }
        purchases.push(Purchase {
            id: one.id.clone(),
            account: one.account.clone(),
            product: one.product.clone(),
            from_ms: one.from_ms,
            until_ms: one.until_ms,
            changed_ms: now_ms,
        });
    }
    door.entitlements.put_purchases(&purchases).await.map_err(Error::from)?;
    // Whoever has just bought is known at once, here; other doors follow.
    for purchase in &purchases {
        door.checker.cache().apply(&purchase.account, Held::from(purchase.clone()), now_ms);
    }
    let who = operator(&headers);
    let changes: Vec<_> = bought
        .iter()
        .map(|one| Change {
            id: crate::fresh_id(),
            at_ms: now_ms,
            who: who.clone(),
            what: format!("purchase/{}", one.id).chars().take(store::WORD_MAX).collect(),
            before: None,
            after: Some(serde_json::json!(one).to_string()),
        })
        .collect();
    if let Err(error) = door.entitlements.note(&changes).await {
        tracing::error!(%error, purchases = changes.len(), "purchases are not in the history");
    }
    Ok(Json(bought))
}
