//! Walks the chain and names the first row that is not as it was written.

use crate::audit::chain::{CHAIN_START, Hash, Link};
use crate::db::Db;
use crate::error::Error;
use crate::tx::Tx;
use crate::value::Row;

/// How many rows are read at once.
const PAGE: u32 = 500;

/// What a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// Every row is as it was written, and none is missing.
    Whole {
        /// The first row looked at; one more than `through_seq` if none is kept.
        from_seq: i64,
        /// The newest row.
        through_seq: i64,
        /// How many rows were looked at.
        row_count: i64,
        /// The newest row's hash: kept elsewhere, it proves the log as it is now.
        head: Hash,
    },
    /// The chain is broken.
    Broken {
        /// The first row that is wrong or missing.
        seq: i64,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Verifies the chain from a row on, or from the oldest that is kept if `from` is not.
///
/// The walk reads a few hundred rows at a time and may be dropped at any point. Rows that are appended
/// meanwhile are not looked at.
///
/// # Errors
/// As [`Db::read`]. A broken chain is not an error but an answer.
pub async fn verify(db: &Db, from: i64) -> Result<Verification, Error> {
    let start = db.read(move |tx| Box::pin(start(tx, from))).await?;
    let mut walk = match start {
        Ok(walk) => walk,
        Err(broken) => return Ok(broken),
    };
    loop {
        let (next, through) = (walk.next_seq, walk.head_seq);
        let page = db.read(move |tx| Box::pin(page(tx, next, through))).await?;
        if let Some(broken) = walk.step(&page)? {
            return Ok(broken);
        }
        if page.rows.is_empty() {
            return Ok(walk.finish());
        }
    }
}

/// How far a walk has come.
struct Walk {
    from_seq: i64,
    next_seq: i64,
    prev_hash: Hash,
    head_seq: i64,
    head_hash: Hash,
    row_count: i64,
}

/// The next rows, and the newest anchor at the same moment.
struct Page {
    rows: Vec<Row>,
    anchor: Option<(i64, Hash)>,
}

async fn anchor(tx: &mut Tx<'_>) -> Result<Option<(i64, Hash)>, Error> {
    let sql = "SELECT through_seq, hash FROM audit_anchor ORDER BY through_seq DESC LIMIT 1";
    let row = tx.fetch_optional(sql, &[]).await?;
    row.map(|row| Ok((row.int("through_seq")?, Hash(row.array("hash")?)))).transpose()
}

async fn start(tx: &mut Tx<'_>, from: i64) -> Result<Result<Walk, Verification>, Error> {
    let head = tx.fetch_optional("SELECT seq, hash FROM audit_head WHERE id = 1", &[]).await?;
    let Some(head) = head else {
        return Ok(Err(Verification::Broken { seq: 0, reason: "the head of the chain is missing" }));
    };
    let (through, anchor_hash) = anchor(tx).await?.unwrap_or((0, CHAIN_START));
    let before = from.saturating_sub(1).min(head.int("seq")?);
    let (before, prev_hash) = if before <= through {
        (through, anchor_hash)
    } else {
        let sql = "SELECT hash FROM audit WHERE seq = $1";
        match tx.fetch_optional(sql, &[before.into()]).await? {
            Some(row) => (before, Hash(row.array("hash")?)),
            None => return Ok(Err(Verification::Broken { seq: before, reason: "the row is missing" })),
        }
    };
    Ok(Ok(Walk {
        from_seq: before + 1,
        next_seq: before + 1,
        prev_hash,
        head_seq: head.int("seq")?,
        head_hash: Hash(head.array("hash")?),
        row_count: 0,
    }))
}

async fn page(tx: &mut Tx<'_>, next: i64, through: i64) -> Result<Page, Error> {
    let sql =
        "SELECT seq, at, request_id, principal_kind, principal_id, principal_name, action, target, outcome,
               detail, prev_hash, hash FROM audit WHERE seq >= $1 AND seq <= $2 ORDER BY seq LIMIT $3";
    let rows = tx.fetch_all(sql, &[next.into(), through.into(), PAGE.into()]).await?;
    Ok(Page { rows, anchor: anchor(tx).await? })
}

impl Walk {
    fn step(&mut self, page: &Page) -> Result<Option<Verification>, Error> {
        // Retention may have taken rows ahead of the walk; their anchor stands for them.
        if let Some((through, hash)) = page.anchor
            && through >= self.next_seq
        {
            (self.next_seq, self.prev_hash) = (through + 1, hash);
            self.from_seq = self.next_seq;
            self.row_count = 0;
        }
        for row in &page.rows {
            let seq = row.int("seq")?;
            if seq < self.next_seq {
                return Ok(Some(Verification::Broken {
                    seq,
                    reason: "the row stands below the newest anchor",
                }));
            }
            if seq > self.next_seq {
                let seq = self.next_seq;
                return Ok(Some(Verification::Broken { seq, reason: "the row is missing" }));
            }
            let fault = match self.fault(row) {
                Err(Error::CorruptRow { .. }) => Some("it is not readable"),
                outcome => outcome?,
            };
            if let Some(reason) = fault {
                return Ok(Some(Verification::Broken { seq, reason }));
            }
            self.next_seq += 1;
            self.row_count += 1;
        }
        Ok(None)
    }

    /// Compares a row with its hash, goes on to it, and says what is wrong.
    fn fault(&mut self, row: &Row) -> Result<Option<&'static str>, Error> {
        let prev_hash = Hash(row.array("prev_hash")?);
        let hash = Hash(row.array("hash")?);
        if prev_hash != self.prev_hash {
            return Ok(Some("it does not follow the row before it"));
        }
        let link = Link {
            seq: row.int("seq")?,
            at_ms: row.int("at")?,
            request_id: &row.text("request_id")?,
            principal_kind: &row.text("principal_kind")?,
            principal_id: &row.text("principal_id")?,
            principal_name: &row.text("principal_name")?,
            action: &row.text("action")?,
            target: &row.text("target")?,
            outcome: &row.text("outcome")?,
            detail: &row.text("detail")?,
            prev_hash,
        };
        self.prev_hash = hash;
        Ok((link.hash() != hash).then_some("its content does not match its hash"))
    }

    fn finish(self) -> Verification {
        let Self { from_seq, next_seq, prev_hash, head_seq, head_hash, row_count } = self;
        if next_seq <= head_seq {
            return Verification::Broken { seq: next_seq, reason: "the row is missing" };
        }
        if next_seq == head_seq + 1 && prev_hash != head_hash {
            return Verification::Broken { seq: head_seq, reason: "it is not the row the head knows" };
        }
        Verification::Whole { from_seq, through_seq: next_seq - 1, row_count, head: prev_hash }
    }
}
