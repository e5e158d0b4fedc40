// Programs and libraries that Debian's packages bring, each at its main job in a sandbox of the
// host's environments. They read more than /usr: settings, fonts, catalogs of /etc.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <filesystem>
#include <ostream>

#include "support/igloo.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

struct Package {
  const char* name = nullptr;
  const char* environment = nullptr;
  const char* code = nullptr;
  const char* output = nullptr;
};
void PrintTo(const Package& each, std::ostream* out) { *out << each.name; }

class Packages : public ::testing::TestWithParam<Package> {};

/// A complaint on standard error is a failure: what a package does not find is named there.
TEST_P(Packages, DoTheirMainJob) {
  const Outcome outcome = Igloo({"run", "--env", GetParam().environment, GetParam().code});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, GetParam().output);
  EXPECT_EQ(outcome.err, "");
}

constexpr Package kPython[] = {
    {"Numpy", "python",
     "import numpy as np\n"
     "print(np.linalg.solve(np.array([[3., 1.], [1., 2.]]), np.array([9., 8.])).round(9))\n"
     "print(np.fft.fft([1, 0, 0, 0]).real.sum())\n",
     "[2. 3.]\n4.0\n"},
    {"Pandas", "python",
     "import io, pandas as pd\n"
     "table = pd.read_csv(io.StringIO('kind,n\\na,1\\nb,5\\na,3\\n'))\n"
     "print(table.groupby('kind').n.sum().to_dict())\n"
     "print(pd.date_range('2024-02-28', periods=3, freq='D', tz='Europe/Berlin')[-1])\n",
     "{'a': 4, 'b': 5}\n2024-03-01 00:00:00+01:00\n"},
    {"Matplotlib", "python",
     "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
     "figure, axes = plt.subplots()\n"
     "axes.plot([1, 4, 9]); axes.set_title(r'$x^2$ and words')\n"
     "for kind, magic in (('png', b'\\x89PNG'), ('pdf', b'%PDF'), ('svg', b'<?xml')):\n"
     "    figure.savefig('f.' + kind)\n"
     "    print(kind, open('f.' + kind, 'rb').read().startswith(magic))\n",
     "png True\npdf True\nsvg True\n"},
    {"Sympy", "python",
     "from sympy import *\nx = symbols('x')\n"
     "print(integrate(x * exp(x), x), solve(x**2 - 5*x + 6, x))\n",
     "(x - 1)*exp(x) [2, 3]\n"},
    {"Pillow", "python",
     "import io\nfrom PIL import Image, ImageDraw, ImageFont\n"
     "image = Image.new('RGB', (120, 40), 'white')\n"
     "font = ImageFont.truetype('DejaVuSans.ttf', 20)\n"
     "ImageDraw.Draw(image).text((4, 4), 'words', fill='black', font=font)\n"
     "packed = io.BytesIO()\nimage.save(packed, 'JPEG')\n"
     "again = Image.open(packed).convert('L').resize((60, 20))\n"
     "print(again.size, min(again.getdata()) < 100)\n",
     "(60, 20) True\n"},
    {"Networkx", "python",
     "import networkx as nx\n"
     "graph = nx.Graph([('a', 'b'), ('b', 'c'), ('a', 'd'), ('d', 'e'), ('e', 'c')])\n"
     "print(nx.shortest_path(graph, 'a', 'c'), nx.number_connected_components(graph))\n",
     "['a', 'b', 'c'] 1\n"},
    {"Lxml", "python",
     "from lxml import etree, html\n"
     "root = etree.fromstring('<a><b n=\"1\"/><b n=\"2\">x</b></a>')\n"
     "print(root.xpath('//b[@n=2]/text()'), html.fromstring('<p>1<p>2').xpath('count(//p)'))\n",
     "['x'] 2.0\n"},
    {"Sqlite", "python",
     "import sqlite3\nbase = sqlite3.connect('own.db')\n"
     "base.execute('create table t (n)')\n"
     "base.executemany('insert into t values (?)', [(1,), (2,), (39,)])\nbase.commit()\n"
     "print(base.execute('select sum(n) from t').fetchone()[0])\n",
     "42\n"},
    {"Certificates", "python",
     "import ssl\nprint(len(ssl.create_default_context().get_ca_certs()) > 50)\n", "True\n"},
    {"KindsOfFiles", "python",
     "import mimetypes\nprint(mimetypes.guess_type('a.png')[0], "
     "mimetypes.guess_type('a.odt')[0])\n",
     "image/png application/vnd.oasis.opendocument.text\n"},
};
INSTANTIATE_TEST_SUITE_P(Python, Packages, ::testing::ValuesIn(kPython),
                         [](const auto& each) { return each.param.name; });

constexpr Package kShell[] = {
    {"ImageMagick", "shell",
     "convert -size 120x40 xc:white -font DejaVu-Sans -pointsize 20 -fill black -annotate +4+24 "
     "words words.png\n"
     "convert words.png -resize 50% -rotate 90 small.jpg\n"
     "identify -format '%m %wx%h\\n' words.png small.jpg\n"
     // The letters are there: black on white has both.
     "convert words.png -format '%[fx:minima<0.5] %[fx:maxima>0.9]\\n' info:\n",
     "PNG 120x40\nJPEG 20x60\n1 1\n"},
    {"Graphviz", "shell",
     "echo 'digraph { \"one word\" -> b; b -> c }' >g\n"
     "dot -Tsvg g | grep -c 'class=\"node\"'\n"
     "dot -Tpng g | file -b - | cut -d, -f1\n"
     "echo 'graph { a -- b }' | neato -Tplain | grep -c ^node\n",
     "3\nPNG image data\n2\n"},
    {"Fontconfig", "shell",
     "fc-match -f '%{family}\\n' 'DejaVu Sans'; fc-list | grep -c DejaVuSans.ttf",
     "DejaVu Sans\n1\n"},
    {"Sqlite", "shell",
     "sqlite3 own.db 'create table t(n); insert into t values (40), (2)'\n"
     "sqlite3 -json own.db 'select sum(n) as sum from t'\n",
     "[{\"sum\":42}]\n"},
    {"Jq", "shell", "echo '{\"a\": [1, 2, 39]}' | jq -c '{sum: (.a | add), last: .a[-1]}'",
     "{\"sum\":42,\"last\":39}\n"},
    {"Openssl", "shell",
     "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=own -days 2 "
     "-keyout key -out certificate 2>log || cat log >&2\n"
     "openssl x509 -in certificate -noout -subject\n",
     "subject=CN = own\n"},
    {"File", "shell", "printf '#!/bin/sh\\n' >x; file -b x; file -b --mime-type x",
     "POSIX shell script, ASCII text executable\ntext/x-shellscript\n"},
    {"Perl", "shell",
     "perl -MPOSIX=floor -MList::Util=sum -MNet::Config -e 'print floor(sum(1.5, 2.7)), \"\\n\"'",
     "4\n"},
    {"Git", "shell",
     "git init -q -b main r && cd r && echo 1 >f && git add f\n"
     "git -c user.name=n -c user.email=n@example.com commit -qm one && git log --format=%s\n",
     "one\n"},
    {"Java", "shell",
     "echo 'class A { public static void main(String[] a) { System.out.println("
     "java.security.Security.getProviders().length > 5); } }' >A.java\n"
     "java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 A.java\n",
     "true\n"},
    {"Alternatives", "shell", "echo 6 7 | awk '{ print $1 * $2 }'", "42\n"},
    {"Release", "shell", ". /etc/os-release && test -n \"$ID\" && echo named", "named\n"},
};
INSTANTIATE_TEST_SUITE_P(Shell, Packages, ::testing::ValuesIn(kShell),
                         [](const auto& each) { return each.param.name; });

/// A library that lies in a project, as those of a virtual environment do.
TEST(PackagesTest, ScipySolvesAndIntegrates) {
  const std::string project = BinDirectory() + "/packages";
  ASSERT_TRUE(std::filesystem::exists(project)) << "tools/install-packages test; then build again";
  const Outcome outcome =
      Igloo({"run", "--env", "shell", "--project", project,
             "export PYTHONPATH=/project/python LD_LIBRARY_PATH=/project/lib\n"
             "python3 -c '\n"
             "from scipy import integrate, linalg, optimize, stats\n"
             "print(round(integrate.quad(lambda x: x * x, 0, 3)[0], 9))\n"
             "print(round(linalg.det([[3., 1.], [1., 2.]]), 9))\n"
             "best = optimize.minimize(lambda x: (x[0] - 2) ** 2, [9.], method=\"L-BFGS-B\")\n"
             "print(best.x.round(3), stats.norm.cdf(0))'\n"});
  EXPECT_EQ(outcome.out, "9.0\n5.0\n[2.] 0.5\n");
  EXPECT_EQ(outcome.err, "");
}

/// The figure that a client shows.
TEST(PackagesTest, AFigureOfMatplotlibComesBack) {
  McpClient client;
  client.Initialize();
  const JsonObject result = client.Run(
      "python",
      "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.title('words')\nplt.show()",
      {{"session", "figures"}});
  EXPECT_FALSE(IsError(result)) << TextOf(result);
  const Json* picture = nullptr;
  for (const Json& each : result.at("content").as_array()) {
    if (each.at("type") == "image") picture = &each;
  }
  ASSERT_NE(picture, nullptr) << boost::json::serialize(result);
  EXPECT_EQ(picture->at("mimeType"), "image/png");
  EXPECT_GT(picture->at("data").as_string().size(), 5000U);
}

}  // namespace
}  // namespace igloo::testing
