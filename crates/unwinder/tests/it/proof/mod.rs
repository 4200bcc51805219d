//! What call frame information alone does not prove: where threads begin, and that files fit together.

mod beginnings;
mod consistency;
mod eh_return;
mod roots;
