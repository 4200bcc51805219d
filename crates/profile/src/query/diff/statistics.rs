//! Statistics for significance: the normal distribution, Student's t distribution, and the Benjamini-Hochberg procedure
//! for multiple comparisons.

/// Half the width of the central 95 % of the standard normal distribution.
pub(super) const NORMAL_95: f64 = 1.959_963_984_540_054;

/// Returns the two-sided p-value of `z` in the standard normal distribution.
pub(super) fn normal_p(z: f64) -> f64 {
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Returns the two-sided p-value of `t` in Student's t distribution.
/// Source: Abramowitz and Stegun, 26.7.1.
pub(super) fn student_p(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// Returns half the width of the central 95 % of Student's t distribution.
pub(super) fn student_95(degrees: f64) -> f64 {
    const OUTSIDE: f64 = 0.05;
    let (mut low, mut high) = (0.0, 1.0);
    // It is 12.7 for one degree of freedom and grows fast below that.
    while student_p(high, degrees) > OUTSIDE && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    // 64 bisections determine all bits.
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if student_p(middle, degrees) > OUTSIDE { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Returns the regularized incomplete beta function of `x` from 0 to 1 with the parameters `a` and `b` above 0.
/// Source: Abramowitz and Stegun, 26.5.8 (the continued fraction), evaluated by Lentz's method.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast only on one side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = (a * x.ln() + b * (-x).ln_1p() - log_beta).exp() / a;
    front * beta_fraction(a, b, x)
}

/// Returns the continued fraction 1 / (1 + d1 / (1 + d2 / …)).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const STEPS: u32 = 500;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction / before - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Returns the largest p-value that is still a discovery at a false discovery rate of `rate`; `None` if there is none.
/// Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995, section 3.1.
pub(super) fn discovery_limit(mut p_values: Vec<f64>, rate: f64) -> Option<f64> {
    p_values.sort_unstable_by(f64::total_cmp);
    let n = p_values.len() as f64;
    let fits = |&(rank, p): &(f64, f64)| p <= rank / n * rate;
    let ranks = (1_u32..).map(f64::from);
    ranks.zip(p_values).filter(fits).last().map(|(_, p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    /// Tables of the normal distribution: 5 % are beyond 1.96, 1 % beyond 2.576, 0.27 % beyond 3.
    #[test]
    fn normal_values_are_those_of_the_tables() {
        is(normal_p(NORMAL_95), 0.05);
        is(normal_p(-2.575_829_303_548_901), 0.01);
        is(normal_p(3.0), 0.002_699_796_063_260_19);
        assert_eq!(normal_p(0.0), 1.0);
        assert!(normal_p(30.0) > 0.0, "no tail is cut off");
    }

    /// Student's t for 95 %, two-sided: 12.706, 4.303, 2.776, 2.228, 1.984, converging to the normal value.
    #[test]
    fn student_values_are_those_of_the_tables() {
        for (degrees, expected) in [
            (1.0, 12.706_204_736_174_71),
            (2.0, 4.302_652_729_749_464),
            (4.0, 2.776_445_105_198_654_3),
            (10.0, 2.228_138_851_986_274),
            (100.0, 1.983_971_518_523_552),
        ] {
            is(student_95(degrees), expected);
            is(student_p(expected, degrees), 0.05);
            is(student_p(-expected, degrees), 0.05);
        }
        assert!((student_95(1e7) - NORMAL_95).abs() < 1e-6);
        // With one degree of freedom it is the Cauchy distribution: a quarter is beyond 1 in each direction.
        is(student_p(1.0, 1.0), 0.5);
        assert_eq!(student_p(0.0, 3.0), 1.0);
    }

    /// The example of the article: of 15 tests, the four smallest are discoveries at 5 %.
    #[test]
    fn discoveries_are_those_of_the_article() {
        let p_values = vec![
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0000,
        ];
        assert_eq!(discovery_limit(p_values, 0.05), Some(0.0095));
        assert_eq!(discovery_limit(vec![0.2, 0.04, 0.9], 0.05), None);
        assert_eq!(discovery_limit(Vec::new(), 0.05), None);
        // A smaller value that exceeds its own threshold is accepted with a larger one that does not.
        assert_eq!(discovery_limit(vec![0.03, 0.04], 0.05), Some(0.04));
    }
}
