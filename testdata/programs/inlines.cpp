// Templates and library code that is inlined three and more levels deep: std::norm of std::complex over numbers of
// std::uniform_real_distribution.
#include <cmath>
#include <complex>
#include <random>

namespace {

template <typename Real> class Walk {
public:
    explicit Walk(unsigned seed) : engine_(seed), uniform_(Real(-1), Real(1)) {}
    std::complex<Real> step() { return {uniform_(engine_), uniform_(engine_)}; }

private:
    std::mt19937 engine_;
    std::uniform_real_distribution<Real> uniform_;
};

template <typename Real, typename Measure>
[[gnu::noinline]] Real sum(Walk<Real> &walk, int steps, Measure measure)
{
    Real total = 0;
    for (int i = 0; i < steps; i++)
        total += measure(walk.step());
    return total;
}

template <typename Real> [[gnu::noinline]] Real run(unsigned seed, int steps)
{
    Walk<Real> walk(seed);
    Real norms = sum(walk, steps, [](const std::complex<Real> &z) { return std::norm(z); });
    Real angles = sum(walk, steps / 4, [](const std::complex<Real> &z) { return std::sin(std::arg(z)); });
    return norms + angles;
}

} // namespace

int main()
{
    double total = 0;
    for (unsigned seed = 0; seed < 6; seed++)
        total += run<double>(seed, 400000) + run<float>(seed, 200000);
    return total > 0 ? 0 : 1;
}
