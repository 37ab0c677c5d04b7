use proptest::prelude::*;

use super::*;
use crate::identity::limits::{GRACE_MS, SESSION_LIFE_MS};

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_token_ends_the_session_for_both() {
    let door = Door::new();
    let mala = door.account(MALA).await;
    let stolen = mala.text("refresh_token").to_owned();
    let next = door.refresh(&stolen).await;
    assert_eq!(next.status, StatusCode::OK);
    door.later(GRACE_MS);
    assert_eq!(door.refresh(&stolen).await.status, StatusCode::UNAUTHORIZED);
    for token in [next.text("refresh_token"), &stolen] {
        assert_eq!(door.refresh(token).await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(
        door.ask("GET", "/me", next.text("token"), Value::Null).await.status,
        StatusCode::UNAUTHORIZED
    );
    // Her other devices are hers.
    let again = door.login(MALA, PASSWORD).await;
    assert_eq!(again.status, StatusCode::OK);
    // Nobody ends a session without a token of it.
    let family = again.text("refresh_token").rsplit_once('.').unwrap().0.to_owned();
    for bad in
        ["", "r1", "r1..", "r1.AAAA.AAAA", &family, &format!("r1.{}.{}", "A".repeat(22), "A".repeat(43))]
    {
        assert_eq!(door.refresh(bad).await.status, StatusCode::UNAUTHORIZED, "{bad}");
    }
    assert_eq!(door.refresh(again.text("refresh_token")).await.status, StatusCode::OK);
}

/// What a client, or a thief, may do.
#[derive(Clone, Debug)]
enum Step {
    /// Presents one of all tokens that were ever given out, counted from the newest.
    Present(usize),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Present(0)),
        3 => Just(Step::Present(1)),
        1 => (0..8_usize).prop_map(Step::Present),
        3 => (0..GRACE_MS * 3 / 2).prop_map(Step::Wait),
        1 => (0..SESSION_LIFE_MS * 11 / 10).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Against a model that knows every token: one is good, the one before it gives it again for a moment, any other
    /// ends the family, and then none is good.
    #[test]
    fn tokens_rotate_as_the_model_says(steps in prop::collection::vec(step(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let door = Door::new();
            let account = store::Account { id: "a".into(), email: None, password: None, created_ms: T };
            door.identity.accounts().create(&account).await.unwrap();
            let begun = door.identity.begin(&account, "d", "l").await.unwrap();
            let mut tokens = vec![begun.refresh];
            let (mut alive, mut rotated, mut used, mut now) = (true, None, T, T);
            for step in steps {
                let back = match step {
                    Step::Wait(ms) => {
                        door.later(ms);
                        now += ms;
                        continue;
                    }
                    Step::Present(back) => back.min(tokens.len() - 1),
                };
                let newest = tokens.len() - 1;
                let answer = door.refresh(&tokens[newest - back]).await;
                let given = answer.body["refresh_token"].as_str().map(str::to_owned);
                alive &= now < used + SESSION_LIFE_MS;
                let again = back == 1 && rotated.is_some_and(|at| now - at < GRACE_MS);
                if alive && back == 0 {
                    let given = given.expect("the newest is good");
                    assert!(!tokens.contains(&given));
                    tokens.push(given);
                    (rotated, used) = (Some(now), now);
                } else if alive && again {
                    assert_eq!(given.as_ref(), tokens.last());
                } else {
                    assert_eq!((answer.status, given), (StatusCode::UNAUTHORIZED, None));
                    alive = false;
                }
                let goes_on = door.identity.accounts().session(&begun.session.id, now).await.unwrap();
                assert_eq!(goes_on.is_some(), alive);
            }
        });
    }
}
