// Gradient of cross-entropy with respect to logits, (softmax(logits) − onehot(target)) · each, two neighbouring columns
// at a time. Expects exponential.glsl.
// Numerics: softmax = exp(logits − top) · inverse, 0 below e^-69 of the row's largest.

struct LossRow {
    uint target;
    float top;
    float scale;  // inverse · each
    float each;
};

vec2 loss_gradient(LossRow row, uint column, vec2 logits) {
    const vec2 p = vec2(exp_below(logits.x - row.top), exp_below(logits.y - row.top)) * row.scale;
    return p - vec2(column == row.target ? row.each : 0.0, column + 1 == row.target ? row.each : 0.0);
}
