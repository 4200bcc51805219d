// Sums norms of complex numbers of a uniform distribution: everything is inlined into main, three levels deep.
#include <complex>
#include <iostream>
#include <random>

int main()
{
    std::uniform_real_distribution<double> uniform(-1E5, 1E5);
    std::default_random_engine engine;
    double sum = 0;
    for (int i = 0; i < 6000000; ++i)
        sum += std::norm(std::complex<double>(uniform(engine), uniform(engine)));
    std::cout << sum << '\n';
    return 0;
}
