/* kda: its switches, its mutants, and the plan for a setting. */
#ifndef UNSEEN_TEST_KDA_PLAN_H
#define UNSEEN_TEST_KDA_PLAN_H

#include "arithmetic.h"
#include "switches.h"

enum {
    SWITCH_CHUNK,
    SWITCH_FOLD,
    SWITCH_INVERSE,
    SWITCH_FORM,
    SWITCH_BETA,
    SWITCH_SUMS,
    SWITCH_SCALE,
    SWITCH_EXPONENT,
    SWITCH_GATES,
    SWITCH_STATE,
    SWITCH_KEYS,
    SWITCH_SOLVE,
    SWITCH_WRITTEN,
    SWITCH_CARRIED,
    SWITCH_SCORES
};

/* The first: token by token. Roundings are of operands of products only. */
const struct honest_switch honest_switches[] = {
    {"chunk", {"1", "16", "32", "64", "128"}, {0}},
    /* the place at which e^(G_i - G_j) in k_i k_j is split: nowhere; the start of i's block of 16; the end of
     * j's; these and the middle of a block on the diagonal; the chunk's start, middle or end, where that is
     * safe */
    {"fold", {"entries", "blocks", "ends", "middles", "start", "middle", "last"}, {0}},
    {"inverse", {"substitution", "doubling", "blocks", "solve"}, {0}},
    {"form", {"uw", "residual"}, {0}}, /* U - W S, or (I + A)^-1 (beta (v - k S)) */
    {"beta", {"right", "inverse", "after"}, {0}},
    {"sums", {"serial", "reversed", "halves", "double", "matrix"}, {0, 0, 0, 0, 80}},
    {"scale", {"last", "first", "scores"}, {0}},
    {"exponent", {"exp", "exp2", "fast"}, {0, 0, 80}},
    {"gates", {"serial", "tree", "double"}, {0}},
    {"state", {"single", "double"}, {0}},
    {"keys", {"f32", "bf16"}, {0}},                        /* k and q in k k^T and q k^T */
    {"solve", {"f32", "inverse", "right", "bf16"}, {0}},   /* precision of (I + A)^-1 and its operand */
    {"written", {"f32", "w", "u", "bf16"}, {0}},           /* W (or e^G k) and U */
    {"carried", {"f32", "new", "state", "bf16"}, {0}},     /* the values written, the state as an operand */
    {"scores", {"f32", "scores", "queries", "bf16"}, {0}}, /* q k^T; e^G q and the keys that are written */
    {NULL, {NULL}, {0}}};

/* Those up to MUTANT_TOKENS go token by token, the others in chunks of 64. */
enum {
    HONEST,
    STATE_BF16_1,
    STATE_BF16_16,
    STATE_BF16_32,
    STATE_BF16_64,
    STATE_BF16_128,
    STATE_TF32_1,
    STATE_TF32_16,
    STATE_TF32_64,
    STATE_FP16_1,
    STATE_FP16_16,
    STATE_FP16_64,
    DECAY_BF16,
    DECAY_TF32,
    GATE_BF16,
    GATE_CLAMPED,
    DECAY_LATE,
    BETA_VALUE_ONLY,
    BETA_KEY_ONLY,
    OUT_EARLY,
    SCALE_BF16,
    SCALE_OFF,
    OUT_7,
    OUT_9,
    OUT_11,
    OUT_TRUNCATED,
    OUT_TWICE,
    OUT_THOUSANDTH,
    SUM_FP16,
    SUM_FP16_16,
    SUM_TF32_32,
    SUM_BF16_64,
    CHANNEL_LAST,
    CHANNEL_FIRST,
    CHANNEL_DOUBLED,
    VALUE_7_BITS,
    KEY_7_BITS,
    QUERY_4_BITS,
    TOKEN_LOST,
    BETA_4_BITS,
    MUTANT_TOKENS = BETA_4_BITS,
    CHUNK_FIRST,
    CHUNK_LAST,
    DIAGONAL_LOST,
    DIAGONAL_TWICE,
    SERIES_4,
    SERIES_8,
    SERIES_16,
    GATES_BF16,
    GATES_CLAMPED,
    LAST_DECAY_BF16,
    KEYS_LATE,
    QUERIES_EARLY,
    TAIL_UNSOLVED,
    TAIL_DECAYED,
    SCORES_4_BITS,
    INTER_BF16,
    BETA_OF_COLUMN,
    STATE_4_BITS,
    W_4_BITS,
    SUM_FP16_CHUNK
};

const struct honest_mutant honest_mutants[] = {
    {"state_bf16_1", "the state in bf16 after every token", NULL},
    {"state_bf16_16", "the state in bf16 every 16 tokens", NULL},
    {"state_bf16_32", "the state in bf16 every 32 tokens", NULL},
    {"state_bf16_64", "the state in bf16 every 64 tokens", NULL},
    {"state_bf16_128", "the state in bf16 every 128 tokens", NULL},
    {"state_tf32_1", "the state in TF32 after every token", NULL},
    {"state_tf32_16", "the state in TF32 every 16 tokens", NULL},
    {"state_tf32_64", "the state in TF32 every 64 tokens", NULL},
    {"state_fp16_1", "the state in fp16 after every token", NULL},
    {"state_fp16_16", "the state in fp16 every 16 tokens", NULL},
    {"state_fp16_64", "the state in fp16 every 64 tokens", NULL},
    {"decay_bf16", "exp(g) rounded to bf16", NULL},
    {"decay_tf32", "exp(g) rounded to TF32", NULL},
    {"gate_bf16", "g rounded to bf16",
     "exp(g) S moves by 2^-8 |g| exp(g) < 2^-8 / e of S, less than by rounding S as an operand"},
    {"gate_clamped", "g no less than -5", NULL},
    {"decay_late", "S^T k of the state before its decay", NULL},
    {"beta_value_only", "beta v - S^T k", NULL},
    {"beta_key_only", "v - beta S^T k", NULL},
    {"out_early", "S^T q of the state before its update", NULL},
    {"scale_bf16", "dk^-1/2 rounded to bf16", "an operand of the product with q, which may be rounded"},
    {"scale_off", "dk^-1/2 times 1 + 2^-5", NULL},
    {"out_7", "outputs times 1 + 2^-7", NULL},
    {"out_9", "outputs times 1 + 2^-9", NULL},
    {"out_11", "outputs times 1 + 2^-11", NULL},
    {"out_truncated", "outputs truncated to bf16", NULL},
    {"out_twice", "outputs rounded to fp16, then to bf16", NULL},
    {"out_thousandth", "one output in a thousand times 1 + 2^-8", NULL},
    {"sum_fp16", "sums in fp16, rounded after every term", NULL},
    {"sum_fp16_16", "sums rounded to fp16 every 16 terms", NULL},
    {"sum_tf32_32", "sums rounded to TF32 every 32 terms", NULL},
    {"sum_bf16_64", "sums rounded to bf16 every 64 terms",
     "three roundings at most in a sum over dk <= 192, each no more than one of its terms' operands"},
    {"channel_last", "S^T q without the last channel", NULL},
    {"channel_first", "S^T k without the first channel", NULL},
    {"channel_doubled", "channel 63 twice in S^T q", NULL},
    {"value_7_bits", "v rounded to 7 bits",
     "it errs by 2.4 times the deviation of one rounding to bf16, and twelve such are admitted"},
    {"key_7_bits", "k rounded to 7 bits",
     "it errs by 2.4 times the deviation of one rounding to bf16, and twelve such are admitted"},
    {"query_4_bits", "q rounded to e4m3's 4 bits", NULL},
    {"token_lost", "the token in the middle is not written", NULL},
    {"beta_4_bits", "beta rounded to 4 bits", NULL},
    {"chunk_first", "a chunk's first token is not written into the state", NULL},
    {"chunk_last", "a chunk's last token is not written into the state", NULL},
    {"diagonal_lost", "scores without their diagonal", NULL},
    {"diagonal_twice", "scores with their diagonal doubled in the first row", NULL},
    {"series_4", "(I + A)^-1 up to A^3", NULL},
    {"series_8", "(I + A)^-1 up to A^7", NULL},
    {"series_16", "(I + A)^-1 up to A^15",
     "keys of the contract have no common direction: in 128 tokens, A^16 is below 2^-14"},
    {"gates_bf16", "sums of g rounded to bf16", NULL},
    {"gates_clamped", "sums of g no less than -20", NULL},
    {"last_decay_bf16", "a chunk's decay of the state rounded to bf16", NULL},
    {"keys_late", "keys written into the state with the decay of the token before", NULL},
    {"queries_early", "queries of the state with the decay of the token before", NULL},
    {"tail_unsolved", "a last chunk that is not whole without (I + A)^-1", NULL},
    {"tail_decayed", "a chunk's last token decays twice in a last chunk that is not whole", NULL},
    {"scores_4_bits", "scores rounded to e4m3's 4 bits", NULL},
    {"inter_bf16", "the state's share of the output rounded to bf16", NULL},
    {"beta_of_column", "A with the beta of the wrong token", NULL},
    {"state_4_bits", "the state as an operand rounded to e4m3's 4 bits", NULL},
    {"w_4_bits", "W rounded to e4m3's 4 bits", NULL},
    {"sum_fp16_chunk", "sums of a chunk rounded to fp16 every 16 terms", NULL},
    {NULL, NULL, NULL}};

enum fold { FOLD_ENTRIES, FOLD_BLOCKS, FOLD_ENDS, FOLD_MIDDLES, FOLD_START, FOLD_MIDDLE, FOLD_LAST };
enum inverse { INVERSE_SUBSTITUTION, INVERSE_DOUBLING, INVERSE_BLOCKS, INVERSE_SOLVE };
enum beta_place { BETA_RIGHT, BETA_INVERSE, BETA_AFTER };
enum sums { SUMS_SERIAL, SUMS_REVERSED, SUMS_HALVES, SUMS_DOUBLE, SUMS_MATRIX };
enum scale_place { SCALE_LAST, SCALE_FIRST, SCALE_SCORES };
enum exponent { EXPONENT_E, EXPONENT_2, EXPONENT_FAST };
enum gates { GATES_SERIAL, GATES_TREE, GATES_DOUBLE };

/* How a kernel goes about it. Sums are cut to `kept` bits every `period` terms: 24 and 0 in honest ones. */
struct kda_plan {
    int chunk, fold, inverse, beta, sums, scale, exponent, gates, mutant;
    int kept, period;
    bool residual, double_state;
    bool round_keys, round_inverse, round_right, round_w, round_u, round_new, round_state, round_scores,
        round_queries;
};

static inline void kda_plan_sums(struct kda_plan *p)
{
    const bool fp16 = p->mutant == SUM_FP16 || p->mutant == SUM_FP16_16 || p->mutant == SUM_FP16_CHUNK;
    p->kept = fp16 || p->mutant == SUM_TF32_32 ? 11 : p->mutant == SUM_BF16_64 ? 8 : 24;
    p->period = p->mutant == SUM_FP16 ? 1 : fp16 ? 16 : p->mutant == SUM_TF32_32 ? 32 : p->kept == 8 ? 64 : 0;
}

static inline struct kda_plan kda_plan_of(const int *choice, int mutant)
{
    static const int chunks[] = {1, 16, 32, 64, 128};
    const bool matrix = choice[SWITCH_SUMS] == SUMS_MATRIX; /* takes nothing else */
    struct kda_plan p;
    p.chunk = mutant == HONEST ? chunks[choice[SWITCH_CHUNK]] : mutant <= MUTANT_TOKENS ? 1 : 64;
    p.fold = choice[SWITCH_FOLD];
    p.inverse = choice[SWITCH_INVERSE];
    p.beta = choice[SWITCH_BETA];
    p.sums = choice[SWITCH_SUMS];
    p.scale = choice[SWITCH_SCALE];
    p.exponent = choice[SWITCH_EXPONENT];
    p.gates = choice[SWITCH_GATES];
    p.mutant = mutant;
    p.residual = choice[SWITCH_FORM];
    p.double_state = choice[SWITCH_STATE];
    p.round_keys = matrix || choice[SWITCH_KEYS];
    p.round_inverse = matrix || (choice[SWITCH_SOLVE] & 1);
    p.round_right = matrix || (choice[SWITCH_SOLVE] & 2);
    p.round_w = matrix || (choice[SWITCH_WRITTEN] & 1);
    p.round_u = choice[SWITCH_WRITTEN] & 2;
    p.round_new = matrix || (choice[SWITCH_CARRIED] & 1);
    p.round_state = matrix || (choice[SWITCH_CARRIED] & 2);
    p.round_scores = matrix || (choice[SWITCH_SCORES] & 1);
    p.round_queries = matrix || (choice[SWITCH_SCORES] & 2);
    kda_plan_sums(&p);
    return p;
}

#endif
