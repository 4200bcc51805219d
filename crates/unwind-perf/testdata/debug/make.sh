set -e
cp ../../../symbolizer/testdata/chain.c .
M="-O2 -g -fdebug-prefix-map=$PWD=/src -ffile-prefix-map=$PWD=/src -nostdlib -static -fno-pie -no-pie -fno-asynchronous-unwind-tables"
ID="-Wl,--build-id=sha1"
for v in 4 5; do
  D="$M -gdwarf-$v"
  mkdir -p v$v/{plain,zlib,zstd,dwo,dwp,dwz,link,path/debug,id/debug/.build-id,mini}
  gcc $D $ID chain.c -o v$v/plain/program
  objcopy --compress-debug-sections=zlib v$v/plain/program v$v/zlib/program
  llvm-objcopy --compress-debug-sections=zstd v$v/plain/program v$v/zstd/program 2>/dev/null || objcopy --compress-debug-sections=zstd v$v/plain/program v$v/zstd/program
  gcc $D -gsplit-dwarf -c chain.c -o chain.o && gcc $M $ID chain.o -o v$v/dwo/program && mv chain.dwo v$v/dwo/
  cp v$v/dwo/program v$v/dwp/program
  llvm-dwp v$v/dwo/chain.dwo -o v$v/dwp/program.dwp
  cp v$v/plain/program v$v/dwz/program
  gcc $D $ID -DOTHER chain.c -o other
  (cd v$v/dwz && cp ../../other . && dwz $([ $v = 5 ] && echo -5) -m common program other && rm other)
  objcopy --only-keep-debug v$v/plain/program v$v/link/program.debug
  (cd v$v/link && objcopy --strip-all --add-gnu-debuglink=program.debug ../plain/program program)
  objcopy --strip-all v$v/plain/program v$v/path/program
  cp v$v/link/program.debug v$v/path/debug/program.debug
  objcopy --strip-all v$v/plain/program v$v/id/program
  id=$(readelf -n v$v/id/program | sed -n 's/.*Build ID: //p')
  mkdir -p v$v/id/debug/.build-id/${id:0:2}; cp v$v/link/program.debug v$v/id/debug/.build-id/${id:0:2}/${id:2}.debug
  nm v$v/plain/program --format=posix | awk "\$2 ~ /[tT]/ {print \$1}" > keep
  objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep v$v/plain/program mini
  xz -k mini; objcopy --strip-all --add-section .gnu_debugdata=mini.xz v$v/plain/program v$v/mini/program; rm mini mini.xz
done
rm -f chain.o other keep
rm chain.c
