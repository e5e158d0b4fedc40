// A program's own file, and where it lies, cannot be changed by the program: what an error shows,
// what a child starts and what a traceback quotes is what was given.
#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "attack_case.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

/// Tries every way to change {HERE} and the file in it, each in a process of its own, and prints
/// which ones worked or changed anything; where they do, it puts things right for the next one.
constexpr char kAttack[] = R"py(
import ctypes, fcntl, mmap, os, stat, sys
here, elsewhere = '{HERE}', '{SCRATCH}/attack'
control = here != '/run/igloo'
os.makedirs(elsewhere, exist_ok=True)
path = os.path.join(here, sorted(n for n in os.listdir(here) if n.startswith('main'))[0])
given = open(path, 'rb').read()
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
  if libc.syscall(number, *args) < 0: raise OSError(ctypes.get_errno(), 'refused')
def look():
  facts = []
  for p in [here, path]:
    s = os.lstat(p)
    facts.append((s.st_dev, s.st_ino, s.st_mode, s.st_uid, s.st_gid, s.st_nlink, s.st_size, s.st_mtime_ns))
  return facts, sorted(os.listdir(here)), open(path, 'rb').read()
def other(name='other'):
  p = os.path.join(elsewhere, name)
  if os.path.lexists(p): os.unlink(p)
  open(p, 'wb').write(b'mine')
  return p
def opened(flags, p=None):
  fd = os.open(p or path, flags)
  if flags & (os.O_WRONLY | os.O_RDWR): os.write(fd, b'X')
def read_only(p=None): return os.open(p or path, os.O_RDONLY)
def mapped(upgrade):
  try: fd = os.open(path, os.O_RDWR)
  except OSError: fd = read_only()
  size, wanted = ctypes.c_size_t(len(given)), mmap.PROT_READ | mmap.PROT_WRITE
  libc.mmap.restype = ctypes.c_void_p
  at = libc.mmap(None, size, mmap.PROT_READ if upgrade else wanted, mmap.MAP_SHARED, fd, ctypes.c_long(0))
  if at == ctypes.c_void_p(-1).value: raise OSError('refused')
  if upgrade and libc.mprotect(ctypes.c_void_p(at), size, wanted) != 0: raise OSError('refused')
  ctypes.memset(at, 88, 1)
def copied():
  source, target = os.open(other(), os.O_RDONLY), os.open(path, os.O_RDWR)
  os.copy_file_range(source, target, 4)
def exchanged():
  call(316, -100, other().encode(), -100, path.encode(), 2)
MS_REMOUNT, MS_BIND = 32, 4096
def mounted(source, target, kind, flags):
  if libc.mount(source, target, kind, flags, None) != 0: raise OSError(ctypes.get_errno(), 'refused')
def set_attributes():
  class Attr(ctypes.Structure): _fields_ = [(n, ctypes.c_uint64) for n in ('set', 'clear', 'kind', 'fd')]
  call(442, -100, here.encode(), 0, ctypes.byref(Attr(0, 1, 0, 0)), ctypes.sizeof(Attr))
def cloned():
  tree = libc.syscall(428, -100, elsewhere.encode(), 1)
  if tree < 0: raise OSError(ctypes.get_errno(), 'refused')
  call(429, tree, b'', -100, here.encode(), 4)
ways = {
  'create': lambda: open(os.path.join(here, 'new'), 'w'),
  'mkdir': lambda: os.mkdir(os.path.join(here, 'new')),
  'symlink': lambda: os.symlink('/etc/passwd', os.path.join(here, 'new')),
  'mkfifo': lambda: os.mkfifo(os.path.join(here, 'new')),
  'rename into place': lambda: os.rename(other(), os.path.join(here, 'new')),
  'link into place': lambda: os.link(other(), os.path.join(here, 'new')),
  'rename over': lambda: os.rename(other(), path),
  'exchange': exchanged,
  'open for writing': lambda: opened(os.O_WRONLY),
  'open read-write': lambda: opened(os.O_RDWR),
  'append': lambda: opened(os.O_WRONLY | os.O_APPEND),
  'open and truncate': lambda: opened(os.O_RDONLY | os.O_TRUNC),
  'through root': lambda: opened(os.O_WRONLY, '/proc/self/root' + path),
  'through cwd': lambda: (os.chdir(here), opened(os.O_WRONLY, '/proc/self/cwd/' + os.path.basename(path))),
  'through fd': lambda: opened(os.O_RDWR, f'/proc/self/fd/{read_only()}'),
  'through fd of thread': lambda: opened(os.O_RDWR, f'/proc/thread-self/fd/{read_only()}'),
  'through O_PATH': lambda: opened(os.O_RDWR, f'/proc/self/fd/{os.open(path, os.O_PATH)}'),
  'through directory': lambda: opened(os.O_RDWR, f'/proc/self/fd/{read_only(here)}/' + os.path.basename(path)),
  'truncate': lambda: os.truncate(path, 1),
  'truncate through fd': lambda: os.truncate(f'/proc/self/fd/{read_only()}', 1),
  'fallocate': lambda: os.posix_fallocate(os.open(path, os.O_RDWR), 0, 1 << 16),
  'copy_file_range': copied,
  'unlink': lambda: os.unlink(path),
  'unlink through fd': lambda: os.unlink(os.path.basename(path), dir_fd=read_only(here)),
  'rename away': lambda: os.rename(path, os.path.join(here, 'new')),
  'rename out': lambda: os.rename(path, os.path.join(elsewhere, 'taken')),
  'link beside': lambda: os.link(path, os.path.join(here, 'new')),
  'chmod': lambda: os.chmod(path, 0o777),
  'fchmod': lambda: os.fchmod(read_only(), 0o777),
  'chmod through fd': lambda: os.chmod(f'/proc/self/fd/{os.open(path, os.O_PATH)}', 0o777),
  'chmod directory': lambda: os.chmod(here, 0o777),
  'fchmod directory': lambda: os.fchmod(read_only(here), 0o777),
  'chown': lambda: os.chown(path, os.getuid(), os.getgid()),
  'fchown': lambda: os.fchown(read_only(), os.getuid(), os.getgid()),
  'chown directory': lambda: os.chown(here, os.getuid(), os.getgid()),
  'utime': lambda: os.utime(path, (1, 1)),
  'futimens': lambda: os.utime(read_only(), (1, 1)),
  'utime directory': lambda: os.utime(here, (1, 1)),
  'setxattr': lambda: os.setxattr(path, 'user.x', b'x'),
  'fsetxattr': lambda: os.setxattr(read_only(), 'user.x', b'x'),
  'setxattr directory': lambda: os.setxattr(here, 'user.x', b'x'),
  'rename directory': lambda: os.rename(here, here + '-moved'),
  'map shared': lambda: mapped(False),
  'map shared, then ask for more': lambda: mapped(True),
  'bind over file': lambda: mounted(other().encode(), path.encode(), None, MS_BIND),
  'bind over directory': lambda: mounted(elsewhere.encode(), here.encode(), None, MS_BIND),
  'tmpfs over directory': lambda: mounted(b'x', here.encode(), b'tmpfs', 0),
  'remount': lambda: mounted(None, here.encode(), None, MS_REMOUNT | MS_BIND),
  'mount_setattr': set_attributes,
  'move_mount': cloned,
  'umount': lambda: call(166, here.encode(), 2),
}
mounts = list(ways)[list(ways).index('bind over file'):]
def prepare_mounts():  # in namespaces that end with this process, where it may have them
  if libc.unshare(0x20000) != 0: libc.unshare(0x10020000)
  if control: mounted(here.encode(), here.encode(), None, MS_BIND)
def put_right():
  try:
    for name in os.listdir(here):
      if name == 'new': os.rmdir(here + '/new') if os.path.isdir(here + '/new') else os.unlink(here + '/new')
    if not os.path.exists(path) or open(path, 'rb').read() != given:
      if os.path.lexists(path): os.unlink(path)
      open(path, 'wb').write(given)
    os.chmod(path, 0o644); os.chmod(here, 0o755)
  except OSError: pass
won = []
for name, way in ways.items():
  put_right()
  before = look()
  child = os.fork()
  if child == 0:
    try:
      if name in mounts: prepare_mounts()
      way()
    except BaseException: os._exit(1)
    os._exit(0)
  worked = os.waitpid(child, 0)[1] == 0
  if os.path.isdir(here + '-moved'): os.rename(here + '-moved', here)
  try: changed = look() != before
  except OSError: changed = True
  if worked or changed: won.append(name)
print('tried', len(ways))
print('lost' if control else 'won', [name for name in ways if (name in won) != control])
)py";

std::string AttackOn(const std::string& here, const std::string& scratch) {
  std::string code = kAttack;
  const auto fill = [&](std::string_view name, const std::string& value) {
    for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos;) {
      code.replace(at, name.size(), value);
    }
  };
  fill("{HERE}", here);
  fill("{SCRATCH}", scratch);
  return code;
}

/// The attack as a program of each language, whose file then is the one that is attacked.
struct Program {
  const char* environment;
  std::string code;
};
std::vector<Program> Programs() {
  const std::string attack = AttackOn("/run/igloo", "/tmp");
  return {{"python", attack},
          {"shell", "python3 - <<'END-OF-ATTACK'\n" + attack + "\nEND-OF-ATTACK\n"},
          {"node",
           "const child = require('child_process').spawnSync('python3', ['-'], {input: "
           "String.raw`" +
               attack +
               "`});\n"
               "process.stdout.write(child.stdout); process.stderr.write(child.stderr);\n"}};
}
constexpr char kNothingWon[] = "won []\n";

/// As root of fresh namespaces, on a file of its own.
TEST(ProgramFile, CanBeChangedInEveryWayWhereItIsTheProgramsOwn) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string here = directory.path() + "/here", scratch = directory.path();
  const std::string file = scratch + "/attack.py";
  std::ofstream(file) << AttackOn(here, scratch);
  const std::string line = "mkdir " + ShellQuote(here) + " && echo given >" +
                           ShellQuote(here + "/main.py") + " && exec python3 " + ShellQuote(file);
  const Outcome control =
      RunProgram({.program = "/usr/bin/unshare", .args = {"-Urm", "/bin/sh", "-c", line}});
  EXPECT_EQ(control.status, 0) << control.err;
  EXPECT_THAT(control.out, HasSubstr("lost []\n")) << "control: " << control.err;
}

class ProgramFileBehind : public ::testing::TestWithParam<Wall> {};

TEST_P(ProgramFileBehind, CannotBeChanged) {
  for (const Program& program : Programs()) {
    const Outcome outcome = RunProgram({.program = BinDirectory() + "/igloo",
                                        .args = {"run", "--env", program.environment, "--backend",
                                                 Name(GetParam()), program.code}});
    EXPECT_THAT(outcome.out, HasSubstr(kNothingWon)) << program.environment << outcome.err;
    EXPECT_EQ(outcome.status, 0) << program.environment << outcome.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Walls, ProgramFileBehind, EveryBackend(), WallName);

/// A server's interpreters wait for their program: its first call starts one, later ones take one.
TEST(ProgramFile, CannotBeChangedWhereTheInterpreterWaited) {
  McpClient client;
  client.Initialize();
  for (const Program& program : Programs()) {
    for (int call = 0; call < 2; ++call) {
      const JsonObject result = client.Run(program.environment, program.code);
      EXPECT_THAT(TextOf(result), HasSubstr(kNothingWon)) << program.environment << " " << call;
    }
  }
}

}  // namespace
}  // namespace igloo::testing
