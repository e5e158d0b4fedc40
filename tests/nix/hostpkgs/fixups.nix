# What Debian does in maintainer scripts, or through paths that are compiled in. `post` runs at the end of import.sh
# and gets all leaves; `shell`: scripts in bin get the store's bash.
{ versions }:
let
  # A program that needs variables to find its files: the real one stays beside it.
  wrapped = bash: name: lines: ''
    mv "$out/bin/${name}" "$out/bin/.${name}-real"
    printf '%s\n' '#!${bash}/bin/bash' ${lines} "exec -a ${name} $out/bin/.${name}-real \"\$@\"" > "$out/bin/${name}"
    chmod +x "$out/bin/${name}"
  '';
  linkPrograms = pattern: ''
    mkdir -p "$out/bin"
    for file in "$out"/${pattern}; do ln -sf "$file" "$out/bin/"; done
  '';
in
{
  bash.post = _: ''ln -sf bash "$out/bin/sh"'';
  bubblewrap.mainProgram = "bwrap";
  coreutils.mainProgram = "env";
  gawk.post = _: ''ln -sf gawk "$out/bin/awk"'';
  gnugrep = { shell = true; mainProgram = "grep"; };
  gnused.mainProgram = "sed";
  gzip.shell = true;
  which = { shell = true; post = _: ''[ -e "$out/bin/which" ] || ln -sf which.debianutils "$out/bin/which"''; };
  # Debian's alternatives choose these names.
  inetutils.post = _: ''for file in "$out"/bin/inetutils-*; do ln -sf "''${file##*/}" "$out/bin/''${file##*/inetutils-}"; done'';
  netcat.post = _: ''ln -sf nc.openbsd "$out/bin/nc"'';
  traceroute.post = _: ''ln -sf traceroute.db "$out/bin/traceroute"'';
  python3 = {
    mainProgram = "python3";
    post = _: ''
      ln -sf python${versions.python} "$out/bin/python3"
      ln -sf python3 "$out/bin/python"
    '';
  };
  # Its data and its settings are looked for below /usr/share and /etc.
  matplotlib.post = _: ''
    sed -i "s@/usr/share/matplotlib@$out/share/matplotlib@; s@/etc/matplotlibrc@$out/etc/matplotlibrc@" \
      "$out"/lib/python3/dist-packages/matplotlib/__init__.py
  '';
  python3-pytz.post = l: ''
    sed -i "s@/usr/share/zoneinfo@${l.tzdata}/share/zoneinfo@" "$out"/lib/python3/dist-packages/pytz/__init__.py
  '';
  nodejs.mainProgram = "node";
  # Where nobody knows Debian's directories: headers of one machine stand beside those of all.
  openssl.post = _: ''for file in "$out"/include/x86_64-linux-gnu/openssl/*; do ln -s "$file" "$out/include/openssl/"; done'';
  go.post = _: linkPrograms "lib/go-*/bin/*";
  jdk = { mainProgram = "java"; post = _: linkPrograms "lib/jvm/java-*/bin/*"; };
  cacert.post = _: ''
    mkdir -p "$out/etc/ssl/certs"
    find "$out/share/ca-certificates" -name '*.crt' | sort | xargs cat > "$out/etc/ssl/certs/ca-bundle.crt"
  '';
  git = {
    shell = true;
    post = l: wrapped l.bash "git" ''"export GIT_EXEC_PATH=$out/lib/git-core GIT_TEMPLATE_DIR=$out/share/git-core/templates"'' + ''
      for file in "$out"/lib/git-core/*; do
        case $(readlink "$file") in */git | git) ln -sf "$out/bin/.git-real" "$file" ;; esac
      done
    '';
  };
  # As in nixpkgs: headers and libraries at the top. Its wrapper looks for everything below /usr.
  musl = {
    shell = true;
    post = l: ''
      for each in lib include; do
        cp -a "$out/$each/x86_64-linux-musl/." "$out/$each/"
        rm -rf "$out/$each/x86_64-linux-musl"
      done
      sed -i "s@/usr/\(lib\|include\)/x86_64-linux-musl@$out/\1@g" "$out/lib/musl-gcc.specs"
      printf '%s\n' '#!${l.bash}/bin/bash' \
        "exec \"\''${REALGCC:-${l.gcc-unwrapped}/bin/x86_64-linux-gnu-gcc-${versions.gcc}}\" \"\$@\" -specs $out/lib/musl-gcc.specs" \
        > "$out/bin/musl-gcc.new"
      rm -f "$out"/bin/*musl-gcc "$out/bin/musl-ldd"
      mv "$out/bin/musl-gcc.new" "$out/bin/musl-gcc"
      chmod +x "$out/bin/musl-gcc"
    '';
  };
  # asm/ beside linux/.
  linuxHeaders.post = _: ''
    cp -rL "$out/include/x86_64-linux-gnu/." "$out/include/"
    rm -rf "$out/include/x86_64-linux-gnu"
  '';
  # Used with --sysroot=$out: it needs a usr that is itself.
  gcc-unwrapped.post = _: ''
    ln -s . "$out/usr"
    rm -rf "$out/lib/x86_64-linux-gnu/gconv" "$out/share/gdb" "$out/share/gcc"
    mkdir -p "$out/lib64"
    [ -e "$out/lib64/ld-linux-x86-64.so.2" ] || ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$out/lib64/"
  '';
}
