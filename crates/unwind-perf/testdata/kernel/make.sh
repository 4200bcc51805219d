set -e
M="-O2 -g -mcmodel=kernel -fno-pie -ffreestanding -fno-asynchronous-unwind-tables -fdebug-prefix-map=$PWD=/src"
cat > vmlinux.lds <<'L'
SECTIONS {
  . = 0xffffffff81000000;
  .text : { *(.text.head) *(.text) _etext = .; }
  .notes : { *(.note.gnu.build-id) }
  /DISCARD/ : { *(.comment) *(.note.GNU-stack) *(.note.gnu.property) }
}
L
gcc $M -c vmlinux.c && ld -static -T vmlinux.lds --build-id=sha1 vmlinux.o -o vmlinux && rm vmlinux.o
gcc $M -c my-mod.c && ld -r --build-id=sha1 my-mod.o -o my-mod.ko && rm my-mod.o vmlinux.lds
gzip -9nk my-mod.ko; xz -k --check=crc32 my-mod.ko; zstd -q -k my-mod.ko
