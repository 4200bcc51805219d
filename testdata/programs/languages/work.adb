-- What programs do, in Ada: recursion, exceptions.
with Ada.Text_IO; use Ada.Text_IO;
procedure Work is
   Too_Deep : exception;
   function Fib (N : Natural) return Natural is
   begin
      if N < 2 then return N; end if;
      return Fib (N - 1) + Fib (N - 2);
   end Fib;
   procedure Down (N : Natural) is
   begin
      if N = 0 then raise Too_Deep; end if;
      Down (N - 1);
   end Down;
   All_Of_It : Natural := 0;
begin
   for I in 1 .. 60 loop
      All_Of_It := (All_Of_It + Fib (28)) mod 1_000_003;
      begin
         Down (20);
      exception
         when Too_Deep => All_Of_It := All_Of_It + 1;
      end;
   end loop;
   Put_Line (Natural'Image (All_Of_It));
end Work;
