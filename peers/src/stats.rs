//! Order statistics of a few numbers.

/// The middle one, or the mean of the two; NaN of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, half) if n % 2 == 1 => sorted[half],
        (_, half) => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The smallest that at least 99 of 100 do not exceed; NaN of none.
pub(crate) fn p99(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let rank = (sorted.len() as f64 * 0.99).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The largest; NaN of none.
pub(crate) fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

/// The smallest and the largest.
pub(crate) fn spread(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(f64::NAN, f64::min), max(values))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_and_of_many() {
        assert!(median(&[]).is_nan() && p99(&[]).is_nan() && max(&[]).is_nan());
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])), (2.0, 2.5));
        let many: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((p99(&many), max(&many), p99(&[7.0])), (198.0, 200.0, 7.0));
        assert_eq!(spread(&many), (1.0, 200.0));
    }
}
