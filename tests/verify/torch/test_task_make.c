/* Inputs whose elements depend on others: the task's own get_inputs makes them, and a solution may rely on
 * their properties. */
#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "share.h"
#include "skip.h"
#include "suites.h"

static const char no_torch[] = "no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON";

/* A mask of lengths that are an input, too, and shares that sum to 1. At one size it draws nothing. It asks
 * for its user's name, as parts of torch do, while there is no /etc/passwd. */
static const char task[] =
    "import getpass\nimport torch\nwho = getpass.getuser()\nclass Model(torch.nn.Module):\n    def "
    "forward(self, x, lengths, kept, share, place):\n"
    "        return torch.where(kept, x, 0).sum(1) / lengths + (share * (x + 1)).sum(1) + place[0]\n"
    "rows = 6\nwidth = 40\ndef get_inputs():\n    if rows == 37:\n        raise ValueError('no such number "
    "of rows')\n"
    "    lengths = torch.randint(1, width + 1, (rows,))\n    share = torch.rand(rows, width) + 0.5\n"
    "    return [torch.randn(rows, width), lengths, torch.arange(width) < lengths[:, None], share / "
    "share.sum(1, "
    "keepdim=True), torch.arange(width)]\n"
    "def get_init_inputs():\n    return []\n";

#define NEW(kept)                                                                                            \
    "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x, lengths, kept, share, "        \
    "place):\n"                                                                                              \
    "        kept = torch.arange(x.shape[1]) < " kept "[:, None]\n"                                          \
    "        return torch.where(kept, x, 0).sum(1) / lengths + (share * x).sum(1) + 1\n"

START_TEST(what_the_task_computes_a_solution_may_rest_on)
{
    SHARE_TEST(1, 3);
    const char *const python = cli_torch();
    if (!python)
        SKIP_TEST(no_torch);
    cli_put("made.py", task);
    cli_put("honest.py", NEW("lengths"));
    cli_put("wrong.py", NEW("(lengths - 1)"));
    CLI("import", "made.py", "--python", python);
    cli_expect(0, "wrote ");
#define QUICKLY "--no-timing", "--device", "host", "--unseen", "8", "--seed", "3", "--python", python
    CLI("verify", "-v", "./made", "honest.py", QUICKLY);
    cli_expect(0, "general: ");
    cli_expect(0, "its own get_inputs makes them, in every input");
    cli_expect(0, "class: lengths, kept, share");
    cli_expect(0, "these inputs hold the same in every call of equal sizes, as the task makes");
    CLI("verify", "./made", "wrong.py", "--no-explain", QUICKLY);
    cli_expect(1, "broken: ");
    CLI("check", "./made", "honest.py", "rows=37 width=24 input=published seed=3", "--device", "host",
        "--python", python);
    cli_expect(1, "skipped: ");
    cli_expect(1, "the task's get_inputs does not run here: ValueError: no such number of rows");
    ck_assert(!cli_has_children());
}
END_TEST

#define LAYER                                                                                                \
    "import torch\nimport torch.nn as nn\nclass %s(nn.Module):\n    def __init__(self, width):\n"            \
    "        super().__init__()\n        self.linear = nn.Linear(width, width)\n        self.kept = None\n"  \
    "    def forward(self, x):\n%s"
#define SIZES                                                                                                \
    "rows, steps, width = 6, 40, 8\ndef get_inputs():\n    return [torch.rand(rows, steps, width)]\n"        \
    "def get_init_inputs():\n    return [width]\n"
static const char plain[] = "        return torch.relu(self.linear(x)).sum(1)\n";
/* Honest: the weights in another order, made once. Not honest: the rest of a call with more steps. A task
 * whose own model has a table of the first shape asks for no better. */
static const char packs[] =
    "        if self.kept is None:\n            self.kept = self.linear.weight.t().contiguous()\n"
    "        return torch.relu(x @ self.kept + self.linear.bias).sum(1)\n";
static const char leaves[] =
    "        b, s, w = x.shape\n"
    "        if self.kept is None or self.kept.shape[0] < b or self.kept.shape[1] < s:\n"
    "            self.kept = torch.zeros(b, s, w)\n        self.kept[:b, :s] = torch.relu(self.linear(x))\n"
    "        return self.kept[:b].sum(1)\n";
static const char table[] =
    "        if self.kept is None:\n            self.kept = torch.ones(x.shape[1])\n"
    "        return (self.kept[: x.shape[1], None] * torch.relu(self.linear(x))).sum(1)\n";

static void put_layer(const char *file, const char *class, const char *forward, const char *sizes)
{
    char text[2000];
    const int n = snprintf(text, sizeof text, LAYER, class, forward);
    snprintf(text + n, sizeof text - (size_t)n, "%s", sizes);
    cli_put(file, text);
}

START_TEST(one_model_has_its_weights_for_ever_and_several_shapes)
{
    SHARE_TEST(0, 5);
    const char *const python = cli_torch();
    if (!python)
        SKIP_TEST(no_torch);
    put_layer("layer.py", "Model", plain, SIZES);
    put_layer("own.py", "Model", table, SIZES);
    put_layer("packs.py", "ModelNew", packs, "");
    put_layer("leaves.py", "ModelNew", leaves, "");
    put_layer("table.py", "ModelNew", table, "");
    CLI("import", "layer.py", "--python", python);
    cli_expect(0, "wrote ");
    CLI("import", "own.py", "--python", python);
    cli_expect(0, "wrote ");
#define SEVERAL                                                                                              \
    "--no-timing", "--device", "host", "--unseen", "16", "--seed", "4", "--no-explain", "--python", python
    CLI("verify", "./layer", "packs.py", SEVERAL);
    cli_expect(0, "general: ");
    CLI("verify", "./layer", "leaves.py", SEVERAL);
    cli_expect(1, "specialized: ");
    cli_expect(1, "by itself, but not after this one by the same");
    CLI("verify", "./layer", "leaves.py", "--disable-defence", "twin", SEVERAL);
    cli_expect(1, "general: ");
    CLI("verify", "./own", "table.py", SEVERAL);
    cli_expect(0, "general: ");
}
END_TEST

/* A check of a task seeds both constructors alike: tensors that one makes of its weights are made of the
 * drawn ones. */
static const struct {
    const char *file, *constructor, *forward, *words;
} derived[] = {
    {"one.py",
     "l = nn.Linear(width, width)\n        self.w = nn.Parameter(torch.cat([l.weight.detach().t(), "
     "l.bias.detach()[None]]))",
     "x @ self.w[:-1] + self.w[-1]", "pass: "},
    {"two.py",
     "self.linear = nn.Linear(width, width)\n        self.w = self.linear.weight.detach().t().contiguous()",
     "x @ self.w + self.linear.bias", "pass: "},
    {"folded.py", "self.linear = nn.Linear(width, width)\n        self.linear.weight.data.mul_(0.25)",
     "4 * (x @ self.linear.weight.t()) + self.linear.bias", "pass: "},
    {"lost.py", "self.linear = nn.Linear(width, width)\n        self.linear.weight.data.mul_(0.25)",
     "x @ self.linear.weight.t() + self.linear.bias", "wrong: "},
    {"hand.py",
     "self.w, self.b = torch.empty(width, width), torch.empty(width)\n"
     "        nn.init.kaiming_uniform_(self.w, a=5 ** 0.5)\n        self.b.uniform_(-0.1, 0.1)",
     "x @ self.w.t() + self.b", "pass: "},
    {"no.py", "self.w = nn.Parameter(torch.rand(width + 1, width))", "x @ self.w[:-1] + self.w[-1]",
     "ModelNew has no place for the weight 'linear.weight'"},
};

START_TEST(a_constructor_makes_what_it_likes_of_its_weights)
{
    SHARE_TEST(0, 6);
    char text[2000];
    const char *const python = cli_torch();
    if (!python)
        SKIP_TEST(no_torch);
    put_layer("layer.py", "Model", plain, SIZES);
    CLI("import", "layer.py", "--python", python);
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
        snprintf(text, sizeof text,
                 "import torch\nimport torch.nn as nn\nclass ModelNew(nn.Module):\n    def __init__(self, "
                 "width):\n"
                 "        super().__init__()\n        %s\n    def forward(self, x):\n        return "
                 "torch.relu(%s).sum(1)\n",
                 derived[i].constructor, derived[i].forward);
        cli_put(derived[i].file, text);
        CLI("check", "./layer", derived[i].file, "rows=3 steps=20 width=9 input=signed seed=1", "--device",
            "host", "--python", python);
        cli_expect(strcmp(derived[i].words, "pass: ") != 0, derived[i].words);
    }
}
END_TEST

/* A padding stays as published. A solution that is wrong for another one is general, until the user says that
 * it varies. */
START_TEST(an_attribute_varies_where_the_user_says_so)
{
    SHARE_TEST(2, 3);
    static const char pool[] = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self, "
                               "padding):\n        super().__init__()\n"
                               "        self.padding = padding\n    def forward(self, x):\n"
                               "        return torch.nn.functional.max_pool1d(x, 8, "
                               "1, self.padding)\nrows = 6\nwidth = 40\npadding "
                               "= 1\n"
                               "def get_inputs():\n    return [torch.rand(rows, width)]\ndef "
                               "get_init_inputs():\n    return [padding]\n";
    const char *const window =
        "import torch\nclass Model(torch.nn.Module):\n    def __init__(self, window):\n        "
        "super().__init__()\n        self.window = window\n    def forward(self, x):\n"
        "        return x * 2 if self.window == 8 else x.no_such_thing\nrows = 6\nwindow = 8\n"
        "def get_inputs():\n    return [torch.rand(rows, 40)]\ndef get_init_inputs():\n"
        "    return [window]\n";
    const char *const python = cli_torch();
    if (!python)
        SKIP_TEST(no_torch);
    cli_put("pool.py", pool);
    CLI("import", "pool.py", "--python", python, "--vary", "padding,bottom");
    cli_expect_error(2, "--vary bottom: found no such size", "expected some of rows, width, padding",
                     "name one of these");
    ck_assert_int_eq(mkdir("plain", 0755), 0);
    CLI("import", "pool.py", "--python", python, "--out", "plain");
    cli_expect(0, "wrote ");
    CLI("import", "pool.py", "--python", python, "--vary", "padding");
    cli_expect(0, "wrote ");
    cli_expect_without("note: ");
    cli_put("window.py", window);
    CLI("import", "window.py", "--python", python, "--vary", "rows,window");
    cli_expect(0, "note: window = 8 stays as it was published, though --vary names it: ");
    cli_expect(0, "no_such_thing");
    cli_put("one.py", "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, padding):\n"
                      "        super().__init__()\n    def forward(self, x):\n"
                      "        return torch.nn.functional.max_pool1d(x, 8, 1, 1)\n");
#define ONE "--device", "host", "--python", python
    CLI("check", "./plain/pool", "one.py", "rows=3 width=20 input=published seed=1", ONE);
    cli_expect(0, "pass: ");
    CLI("check", "./pool", "one.py", "rows=3 width=20 padding=2 input=published seed=1", ONE);
    cli_expect(1, "expected a torch.Tensor, y float32 [3, 17]");
}
END_TEST

/* Halves that are rounded away from zero: wrong where the class brings inputs to halves, and never for random
 * numbers. */
static const char quantize[] =
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
    "        return torch.clamp(torch.round(x / 0.25), -8, 7)\n"
    "rows, width = 6, 40\ndef get_inputs():\n    return [torch.randn(rows, width)]\n"
    "def get_init_inputs():\n    return []\n";
#define ROUNDED(by)                                                                                          \
    "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " by "\n"

START_TEST(inputs_lie_where_the_task_decides)
{
    SHARE_TEST(2, 3);
    const char *const python = cli_torch();
    if (!python)
        SKIP_TEST(no_torch);
    cli_put("quantize.py", quantize);
    cli_put("even.py", ROUNDED("torch.round((x * 4).clamp(-8, 7))"));
    cli_put("away.py", ROUNDED("torch.clamp(torch.sign(x) * torch.floor((x * 4).abs() + 0.5), -8, 7)"));
    CLI("import", "quantize.py", "--python", python);
    CLI("describe", "./quantize");
    cli_expect(0, "decision");
    cli_expect(0, "numbers at which");
#define LINE(class) "rows=9 width=33 input=" class " seed=5", "--device", "host", "--python", python
    CLI("check", "./quantize", "even.py", LINE("decision"));
    cli_expect(0, "pass: ");
    CLI("check", "./quantize", "away.py", LINE("published"));
    cli_expect(0, "pass: ");
    CLI("check", "./quantize", "away.py", LINE("decision"));
    cli_expect(1, "wrong: ");
}
END_TEST

/* Importing says it at once where no answer can be judged, and of which operation. */
START_TEST(a_task_that_cannot_be_judged_says_so_when_it_is_imported)
{
    if (!cli_torch())
        SKIP_TEST(no_torch);
    cli_put("curve.py", "import torch\nimport torch.nn as nn\nB, N = 4, 64\nclass Model(nn.Module):\n"
                        "    def forward(self, x):\n        return torch.special.i0(x) * 2\n"
                        "def get_inputs():\n    return [torch.randn(B, N)]\n"
                        "def get_init_inputs():\n    return []\n");
    CLI("import", "curve.py", "--python", cli_torch());
    cli_expect(0, "note: no configuration can be judged: no rule for aten.i0.default ---> use operations");
    cli_put("double.py", "import torch\nimport torch.nn as nn\nB, N = 4, 64\nclass Model(nn.Module):\n"
                         "    def forward(self, x):\n        return x * 2\n"
                         "def get_inputs():\n    return [torch.randn(B, N)]\n"
                         "def get_init_inputs():\n    return []\n");
    CLI("import", "double.py", "--python", cli_torch());
    cli_expect(0, "wrote ");
    ck_assert_ptr_null(strstr(cli.out, "can be judged"));
}
END_TEST

TCase *task_made_case(void)
{
    TCase *made = tcase_create("made");
    tcase_add_test(made, what_the_task_computes_a_solution_may_rest_on);
    tcase_add_test(made, inputs_lie_where_the_task_decides);
    tcase_add_test(made, a_constructor_makes_what_it_likes_of_its_weights);
    tcase_add_test(made, one_model_has_its_weights_for_ever_and_several_shapes);
    tcase_add_test(made, an_attribute_varies_where_the_user_says_so);
    tcase_add_test(made, a_task_that_cannot_be_judged_says_so_when_it_is_imported);
    return made;
}
