# python3 with nixpkgs' names for its packages, and withPackages.
{ pkgs, lib, lock, leaves, ... }:
let
  version = lock.versions.python;
  sitePackages = "lib/python${version}/site-packages";
  modules = lib.genAttrs (lib.attrNames (lib.filterAttrs (_: group: group.isPython) lock.groups)) (name: leaves.${name});

  # What Debian has not, so that those who ask for it can be evaluated and built: it cannot be imported.
  absent = lib.genAttrs [ "pyarrow" "pympler" ] (name: pkgs.writeTextFile {
    inherit name;
    destination = "/lib/python3/dist-packages/${name}.py";
    text = "raise ImportError('hostpkgs has no ${name}')\n";
  });

  # Packages with all that they import, each once.
  withRequired = packages: map (each: each.package) (builtins.genericClosure {
    startSet = map (package: { key = package.outPath; inherit package; }) packages;
    operator = each: map (package: { key = package.outPath; inherit package; }) (each.package.requiredPythonModules or [ ]);
  });

  # A virtual environment, entered through scripts, so that it works when its programs are linked into a larger one.
  environment = packages: pkgs.runCommand "python3-${leaves.python3.version}-env"
    { libs = map toString (withRequired packages); meta.mainProgram = "python3"; preferLocalBuild = true; } ''
    venv=$out/venv
    site=$venv/${sitePackages}
    mkdir -p $out/bin $venv/bin $site
    for program in ${leaves.python3}/bin/python*; do
      name=''${program##*/}
      ln -s $program $venv/bin/$name
      printf '%s\n' '#!${pkgs.bash}/bin/bash' "exec $venv/bin/$name \"\$@\"" > $out/bin/$name
      chmod +x $out/bin/$name
    done
    printf 'home = %s\ninclude-system-site-packages = false\nversion = %s\n' ${leaves.python3}/bin ${version} > $venv/pyvenv.cfg
    for each in $libs; do
      for file in $each/lib/python3/dist-packages/* $each/${sitePackages}/*; do
        [ -e $site/''${file##*/} ] || ln -s $file $site/
      done
    done
  '';
in
{
  python3Packages = modules // absent // { python = pkgs.python3; inherit (pkgs.python3) withPackages; };
  python3 = leaves.python3 // {
    pythonVersion = version;
    inherit sitePackages;
    pkgs = pkgs.python3Packages;
    withPackages = choose: environment (choose pkgs.python3Packages);
    interpreter = "${leaves.python3}/bin/python3";
  };
}
