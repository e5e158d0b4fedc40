#include "language/language.h"

#include <algorithm>

#include "language_texts.h"

namespace igloo::language {
namespace {

constexpr std::string_view kPythonPrograms[] = {"python3", "python"};
constexpr std::string_view kNodePrograms[] = {"node"};
constexpr std::string_view kBashPrograms[] = {"bash"};
constexpr std::string_view kShPrograms[] = {"sh"};
constexpr std::string_view kDashPrograms[] = {"dash"};
constexpr std::string_view kRubyPrograms[] = {"ruby"};
constexpr std::string_view kPerlPrograms[] = {"perl"};
constexpr std::string_view kGoPrograms[] = {"go"};
constexpr std::string_view kRustPrograms[] = {"rustc"};
constexpr std::string_view kJavaPrograms[] = {"java"};

constexpr Conveniences kPythonConveniences = {
    .description = "display(), figures and pictures come back, output is not held back",
    .variables = {{{"PYTHONPATH", "/run/igloo/.python", ':'},
                   {"PYTHONUNBUFFERED", "1"},
                   {"MPLBACKEND", "agg"}}},
    .files = {
        {{".python/sitecustomize.py", k_sitecustomize_py}, {".python/display.py", k_display_py}}}};

constexpr Conveniences kNodeConveniences = {
    .description = "igloo.display(value, type)",
    .variables = {{{"NODE_OPTIONS", "--require=/run/igloo/.node/igloo.js", ' '}}},
    .files = {{{".node/igloo.js", k_igloo_js}}}};

constexpr Prompt kPythonPrompt = {
    .history = "python",
    .whole = Whole::kIndentation,
    .comment_within_words = true,
    .triple_quotes = true,
    .name_letters = ".",
    .completion =
        "(lambda c: print(*iter(lambda n=__import__('itertools').count(): "
        "c.complete('{word}', next(n)), None), sep='\\n'))"
        "(__import__('rlcompleter').Completer(globals()))"};

constexpr Prompt kNodePrompt = {
    .history = "node",
    .whole = Whole::kBrackets,
    .comment = "//",
    .comment_within_words = true,
    .block_comments = true,
    .quotes = "'\"`",
    .long_quotes = "`",
    .name_letters = ".$",
    .completion =
        "{{ for (let o = ({owner}); o != null; o = Object.getPrototypeOf(o)) "
        "for (const n of Object.getOwnPropertyNames(Object(o))) "
        "console.log('{before}' + n) }}",
    .world = "globalThis"};

constexpr Prompt kBashPrompt = {
    .history = "shell",
    .whole = Whole::kShellWords,
    .quotes = "'\"`",
    .long_quotes = "'\"`",
    .plain_single_quotes = true,
    .name_letters = "/-.",
    .completion =
        "builtin compgen -A function -A variable -A builtin -A command -A file -- "
        "{word}"};

// Of an owner only variables and constants: a method that is called for its answer may do anything.
constexpr Prompt kRubyPrompt = {.history = "ruby",
                                .whole = Whole::kEnds,
                                .comment_within_words = true,
                                .quotes = "'\"`",
                                .long_quotes = "'\"`",
                                .name_letters = ".@$?!",
                                .completion = R"rb(->(here, owner, before) {{
  names = if before.empty?
    here.local_variables + here.receiver.methods + here.receiver.private_methods +
      global_variables + Object.constants
  elsif owner.match?(/\A[a-z_]\w*\z/) && here.local_variable_defined?(owner)
    here.local_variable_get(owner).methods
  elsif owner.match?(/\A[A-Z]\w*\z/) && Object.const_defined?(owner) && !Object.autoload?(owner)
    Object.const_get(owner).methods
  end
  $stdout.puts((names || []).map {{ |name| "#{{before}}#{{name}}" }})
}}.(binding, '{owner}', '{before}'))rb"};

constexpr Prompt kOtherPrompt = {};

constexpr Language kLanguages[] = {
    {.name = "python",
     .title = "Python",
     .programs = kPythonPrograms,
     .versioned = "python3",
     .code_file = "main.py",
     .shortest = "print('igloo-ok')",
     .argument = "-c",
     .input = "-",
     .waits = true,
     .in_images = true,
     .in_artifacts = true,
     .driver = Driver{.interpreter = "python",
                      .file = "driver.py",
                      .text = k_driver_py,
                      .program = "main.py",
                      .checkpoint = true,
                      .fork = Fork::kMemory},
     .conveniences = kPythonConveniences,
     .prompt = kPythonPrompt},
    {.name = "node",
     .title = "Node",
     .programs = kNodePrograms,
     .code_file = "main.js",
     .shortest = "console.log('igloo-ok')",
     .argument = "-e",
     .input = "-",
     .waits = true,
     .in_images = true,
     .in_artifacts = true,
     .driver =
         Driver{
             .interpreter = "node", .file = "driver.js", .text = k_driver_js, .program = "main.js"},
     .conveniences = kNodeConveniences,
     .prompt = kNodePrompt},
    {.name = "bash",
     .title = "Bash",
     .programs = kBashPrograms,
     .code_file = "main.sh",
     .shortest = "echo igloo-ok",
     .argument = "-c",
     .input = "-s",
     .waits = true,
     .in_images = true,
     .in_artifacts = true,
     .driver = Driver{.interpreter = "bash",
                      .file = "bash",
                      .text = k_driver_sh,
                      .fork = Fork::kText,
                      .snapshot = k_snapshot_sh},
     .prompt = kBashPrompt},
    {.name = "sh",
     .title = "the shell",
     .programs = kShPrograms,
     .code_file = "main.sh",
     .shortest = "echo igloo-ok",
     .argument = "-c",
     .input = "-s",
     .waits = true,
     .in_images = true},
    {.name = "dash",
     .title = "dash",
     .programs = kDashPrograms,
     .code_file = "main.sh",
     .shortest = "echo igloo-ok",
     .argument = "-c",
     .input = "-s",
     .waits = true},
    // Ruby opens its file with O_NONBLOCK, so it does not wait for a pipe in that call.
    {.name = "ruby",
     .title = "Ruby",
     .programs = kRubyPrograms,
     .code_file = "main.rb",
     .shortest = "puts 'igloo-ok'",
     .argument = "-e",
     .input = "-",
     .driver = Driver{.interpreter = "ruby", .file = "driver.rb", .text = k_driver_rb},
     .prompt = kRubyPrompt},
    {.name = "perl",
     .title = "Perl",
     .programs = kPerlPrograms,
     .code_file = "main.pl",
     .shortest = "print qq(igloo-ok\n)",
     .argument = "-e",
     .input = "-",
     .waits = true},
    {.name = "go",
     .title = "Go",
     .programs = kGoPrograms,
     .code_file = "main.go",
     .shortest = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"igloo-ok\") }\n"},
    {.name = "rust",
     .title = "Rust",
     .programs = kRustPrograms,
     .code_file = "main.rs",
     .shortest = "fn main() { println!(\"igloo-ok\"); }\n"},
    {.name = "java",
     .title = "Java",
     .programs = kJavaPrograms,
     .code_file = "main.java",
     .shortest = "class Main { public static void main(String[] a) { "
                 "System.out.println(\"igloo-ok\"); } }\n"},
};

template <class Row>
std::span<const Row> Filled(std::span<const Row> rows) {
  const auto end = std::ranges::find_if(rows, [](const Row& row) { return row.name.empty(); });
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

const Language* Orderly(const Language* found) {
  return found == std::end(kLanguages) ? nullptr : found;
}

}  // namespace

std::span<const Conveniences::Variable> Conveniences::Variables() const {
  return Filled(std::span<const Variable>(variables));
}

std::span<const Conveniences::File> Conveniences::Files() const {
  return Filled(std::span<const File>(files));
}

std::span<const Language> All() { return kLanguages; }

const Language* Find(std::string_view name) {
  return Orderly(std::ranges::find(kLanguages, name, &Language::name));
}

const Language* FindByEnding(std::string_view ending) {
  return Orderly(std::ranges::find_if(kLanguages, [&](const Language& row) {
    return row.code_file.substr(row.code_file.find('.') + 1) == ending;
  }));
}

const Language* FindByProgram(std::string_view program) {
  return Orderly(std::ranges::find_if(kLanguages, [&](const Language& row) {
    return std::ranges::find(row.programs, program) != row.programs.end();
  }));
}

bool Waits(std::string_view program) {
  return std::ranges::any_of(kLanguages, [&](const Language& row) {
    const bool version = !row.versioned.empty() && program.starts_with(row.versioned) &&
                         program.substr(row.versioned.size()).starts_with('.');
    const bool named = std::ranges::find(row.programs, program) != row.programs.end();
    return row.waits && (named || version);
  });
}

bool IsInterpreterType(std::string_view name) {
  const Language* found = Find(name);
  return found != nullptr && found->in_artifacts;
}

const Prompt& PromptOf(std::string_view interpreter) {
  const Language* found = Find(interpreter);
  return found == nullptr ? kOtherPrompt : found->prompt;
}

const Driver* FindDriver(std::string_view interpreter) {
  if (interpreter == CommandDriver().interpreter) return &CommandDriver();
  const Language* found = Find(interpreter);
  return found == nullptr || !found->driver ? nullptr : &*found->driver;
}

const Driver& CommandDriver() {
  static constexpr Driver kDriver = {.interpreter = "command",
                                     .file = "driver.command.sh",
                                     .text = k_driver_command_sh,
                                     .fork = Fork::kFiles};
  return kDriver;
}

std::vector<std::string> DriveByCommand(std::string_view file_name,
                                        std::span<const std::string> command) {
  std::vector<std::string> argv = {"/bin/sh", "-c", std::string(CommandDriver().text), "igloo",
                                   std::string(file_name)};
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace igloo::language
