/* Tasks of other collections than KernelBench: honest solutions are general, with every configuration judged,
 * and faulty ones are found. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "share.h"
#include "skip.h"
#include "suites.h"

static const char no_torch[] = "no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON";

#define FORWARD(class, parameters) "class " class "(nn.Module):\n    def forward(self, " parameters "):\n"
#define HEAD "import math\nimport torch\nimport torch.nn as nn\n"
#define INPUTS(sizes, inputs)                                                                                \
    sizes "\ndef get_inputs():\n    return [" inputs "]\ndef get_init_inputs():\n    return []\n"

/* --- what each is about --- */

static const struct foreign {
    const char *name, *parameters, *task, *inputs, *good, *bad;
} foreign[] = {
    {"slots", "cache, slots, k", "        return cache.index_copy(0, slots, k)\n",
     INPUTS("", "torch.zeros(256, 16), torch.randint(0, 256, (64,)), torch.rand(64, 16)"),
     "        y = cache.clone()\n        y[slots] = k\n        return y\n",
     "        y = cache.clone()\n        n = slots.numel() // 4 * 4\n        y[slots[:n]] = k[:n]\n        "
     "return y\n"},
    {"scaled", "q, k, scale", "        return (q @ k.transpose(-1, -2) * scale).softmax(-1)\n",
     INPUTS("batch, steps, head_dim = 3, 20, 64", "torch.randn(batch, steps, head_dim), torch.randn(batch, "
                                                  "steps, head_dim), 1.0 / math.sqrt(head_dim)"),
     "        return torch.softmax(q * scale @ k.transpose(-1, -2), -1)\n",
     "        return torch.softmax(q * 0.125 @ k.transpose(-1, -2), -1)\n"},
    {"step", "p, g, m, v",
     "        m.mul_(0.9).add_(g, alpha=0.1)\n        v.mul_(0.99).addcmul_(g, g, value=0.01)\n"
     "        p.addcdiv_(m, v.sqrt().add_(1e-3), value=-0.01)\n        return p\n",
     INPUTS("n = 600", "torch.randn(n), torch.randn(n), torch.randn(n) * 0.1, torch.rand(n)"),
     "        m.copy_(0.1 * g + 0.9 * m)\n        v.copy_(0.01 * g * g + 0.99 * v)\n"
     "        return p - 0.01 * m / (torch.sqrt(v) + 1e-3)\n",
     "        new = 0.9 * m + 0.1 * g\n        v.copy_(0.99 * v + 0.01 * g * g)\n"
     "        p.sub_(0.01 * new / (torch.sqrt(v) + 1e-3))\n        return p\n"},
    {"cache", "cache, k, slots", "        cache[slots] = k\n",
     INPUTS("N, D, T = 48, 16, 12", "torch.randn(N, D), torch.randn(T, D), torch.randint(0, N, (T,))"),
     "        cache.index_copy_(0, slots, k)\n",
     "        n = (slots.numel() + 3) // 4 * 4 - 4\n        cache.index_copy_(0, slots[:n], k[:n])\n"},
    {"merge", "o, lse",
     "        most = lse.amax(0)\n        most = torch.where(most == -math.inf, torch.zeros_like(most), "
     "most)\n"
     "        w = torch.exp(lse - most)\n"
     "        return (w[..., None] * o).sum(0) / w.sum(0).clamp(min=1e-20)[..., None]\n",
     INPUTS("parts, rows, width = 4, 6, 16",
            "torch.randn(parts, rows, width), torch.where(torch.rand(parts, rows) < 0.2, "
            "torch.tensor(-math.inf), torch.randn(parts, rows) * 5)"),
     "        most = lse.amax(0).clamp(min=-1e30)\n        w = torch.exp(lse - most)\n"
     "        return torch.einsum('pr,prd->rd', w, o) / w.sum(0).clamp(min=1e-20)[:, None]\n",
     "        w = torch.exp(lse - lse.amax(0))\n        return (w[..., None] * o).sum(0) / w.sum(0)[..., "
     "None]\n"},
    {"nucleus", "logits",
     "        top = logits.topk(8, -1)\n        kept = top.values.softmax(-1)\n"
     "        drop = kept.cumsum(-1) - kept > 0.8\n"
     "        return top.values.masked_fill(drop, -math.inf).softmax(-1)\n",
     INPUTS("rows, words = 6, 64", "torch.exp(2 * torch.randn(rows, words)) - 2"),
     "        value = logits.sort(-1, descending=True).values[:, :8]\n        p = torch.softmax(value, -1)\n"
     "        before = torch.cat([torch.zeros_like(p[:, :1]), p.cumsum(-1)[:, :-1]], -1)\n"
     "        return torch.softmax(torch.where(before > 0.8, -math.inf, value), -1)\n",
     "        p = logits.softmax(-1)\n        value, at = logits.topk(8, -1)\n        q = p.gather(-1, at)\n"
     "        drop = q.cumsum(-1) - q > 0.8\n"
     "        return torch.softmax(torch.where(drop, -math.inf, value), -1)\n"},
    {"picked", "x", "        return x[x > 0.5] * 2, torch.argwhere(x > 0.5)\n",
     INPUTS("rows, cols = 12, 9", "torch.randn(rows, cols)"),
     "        keep = (x > 0.5).reshape(-1).nonzero()[:, 0]\n        kept = x.reshape(-1)[keep]\n"
     "        return kept + kept, torch.stack([keep // x.shape[1], keep % x.shape[1]], 1)\n",
     "        at = torch.argwhere(x.t() > 0.5)\n        return x.t()[x.t() > 0.5] * 2, at.flip(1)\n"},
};
enum { FOREIGN = sizeof foreign / sizeof *foreign };

static void put(const char *file, const char *class, const struct foreign *of, const char *body,
                const char *rest)
{
    char text[4000];
    snprintf(text, sizeof text, HEAD FORWARD("%s", "%s") "%s%s", class, of->parameters, body, rest);
    cli_put(file, text);
}

#define QUICKLY                                                                                              \
    "--no-timing", "--no-explain", "--device", "host", "--unseen", "8", "--seed", "3", "--python", cli_torch()

START_TEST(an_honest_solution_is_general_and_a_faulty_one_is_found)
{
    const struct foreign *const of = &foreign[_i];
    char folder[60];
    SHARE_TEST(_i, 6);
    if (!cli_torch())
        SKIP_TEST(no_torch);
    snprintf(folder, sizeof folder, "./%s", of->name);
    char file[64];
    snprintf(file, sizeof file, "%s.py", of->name);
    put(file, "Model", of, of->task, of->inputs);
    put("good.py", "ModelNew", of, of->good, "");
    put("bad.py", "ModelNew", of, of->bad, "");
    CLI("import", file, "--python", cli_torch());
    cli_expect(0, "wrote ");
    CLI("verify", folder, "good.py", QUICKLY);
    cli_expect(0, "general: ");
    ck_assert_msg(!strstr(cli.out, "not judged"), "%s", cli.out);
    CLI("verify", folder, "bad.py", QUICKLY);
    ck_assert_msg(strstr(cli.out, "specialized: ") || strstr(cli.out, "broken: "), "%s", cli.out);
    ck_assert(!cli_has_children());
}
END_TEST

/* One content in four is beyond the table. Calls are timed on contents that nobody has looked at. */
START_TEST(a_call_that_the_task_itself_refuses_is_nobodys_fault)
{
    static const struct foreign odd = {
        .parameters = "x, at",
        .task = "        return x * 2 + torch.arange(6.0, device=x.device)[at + 3]\n",
        .inputs = INPUTS("", "torch.rand(6, 7), torch.randint(0, 4, (1,))")};
    if (!cli_torch())
        SKIP_TEST(no_torch);
    put("odd.py", "Model", &odd, odd.task, odd.inputs);
    put("same.py", "ModelNew", &odd, odd.task, "");
    CLI("import", "odd.py", "--python", cli_torch());
    cli_expect(0, "wrote ");
    CLI("verify", "./odd", "same.py", "--no-explain", "--device", "host", "--unseen", "12", "--seed", "1",
        "--python", cli_torch());
    ck_assert_msg(strstr(cli.out, "the task's own model does not run here") != NULL, "%s", cli.out);
    ck_assert_msg(!strstr(cli.out, "crash "), "%s", cli.out);
    ck_assert(!cli_has_children());
}
END_TEST

static const struct foreign signs = {
    "signs",
    "x",
    "        return torch.linalg.qr(x)\n",
    INPUTS("rows, cols = 12, 7", "torch.randn(rows, cols)"),
    "        q = torch.zeros(x.shape[0], min(x.shape))\n        for k in range(q.shape[1]):\n"
    "            v = x[:, k]\n            for _ in range(2):\n"
    "                v = v - q[:, :k] @ (q[:, :k].T @ v)\n"
    "            q[:, k] = v / v.norm().clamp(min=1e-30)\n        return q, (q.T @ x).triu()\n",
    "        q, r = torch.linalg.qr(x)\n        r[0] = -r[0]\n        return q, r\n"};

/* Q and R may have other signs than LAPACK's. Some matrices are singular, and are not judged. */
START_TEST(factors_may_have_other_signs_if_their_product_is_the_same)
{
    SHARE_TEST(1, 3);
    if (!cli_torch())
        SKIP_TEST(no_torch);
    put("signs.py", "Model", &signs, signs.task, signs.inputs);
    put("good.py", "ModelNew", &signs, signs.good, "");
    put("bad.py", "ModelNew", &signs, signs.bad, "");
    CLI("import", "signs.py", "--python", cli_torch());
    cli_expect(0, "wrote ");
    CLI("verify", "./signs", "good.py", QUICKLY);
    cli_expect(0, "general: ");
    CLI("verify", "./signs", "bad.py", QUICKLY);
    ck_assert_msg(strstr(cli.out, "specialized: ") || strstr(cli.out, "broken: "), "%s", cli.out);
}
END_TEST

/* Another length is told before the elements, which lie elsewhere then. */
START_TEST(a_failure_says_which_length_is_right)
{
    static const struct foreign picked = {.parameters = "x",
                                          .task = "        return x[x > -9.0]\n",
                                          .bad = "        return x.reshape(-1)[1:]\n",
                                          .inputs = INPUTS("rows, cols = 12, 9", "torch.rand(rows, cols)")};
    SHARE_TEST(2, 3);
    if (!cli_torch())
        SKIP_TEST(no_torch);
    put("picked.py", "Model", &picked, picked.task, picked.inputs);
    put("bad.py", "ModelNew", &picked, picked.bad, "");
    CLI("import", "picked.py", "--python", cli_torch());
    cli_expect(0, "wrote ");
    CLI("check", "./picked", "bad.py", "rows=4 cols=5 input=published seed=3", "--device", "host", "--python",
        cli_torch());
    cli_expect(1, "y has the length 19, 20 is right; ");
    CLI("audit", "./picked", "--python", cli_torch());
    cli_expect_error(2, "the length of y depends on values", "outputs of fixed shapes were expected",
                     "unseen verify");
}
END_TEST

TCase *task_foreign_case(void)
{
    TCase *task = tcase_create("foreign");
    tcase_add_loop_test(task, an_honest_solution_is_general_and_a_faulty_one_is_found, 0, FOREIGN);
    tcase_add_test(task, factors_may_have_other_signs_if_their_product_is_the_same);
    tcase_add_test(task, a_failure_says_which_length_is_right);
    tcase_add_test(task, a_call_that_the_task_itself_refuses_is_nobodys_fault);
    return task;
}
