! What programs do, in Fortran: recursion, arrays.
module parts
contains
  recursive function fib(n) result(f)
    integer, intent(in) :: n
    integer :: f
    if (n < 2) then
      f = n
    else
      f = fib(n - 1) + fib(n - 2)
    end if
  end function fib
  subroutine multiply(n, total)
    integer, intent(in) :: n
    real(8), intent(out) :: total
    real(8) :: a(n, n), b(n, n), c(n, n)
    call random_number(a)
    call random_number(b)
    c = matmul(a, b)
    total = sum(c)
  end subroutine multiply
end module parts
program work
  use parts
  real(8) :: total, all
  integer :: i
  all = 0
  do i = 1, 30
    call multiply(200, total)
    all = all + total + fib(27)
  end do
  print *, all
end program work
